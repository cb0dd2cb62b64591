"""The command `score`: a run again from its journal, or files of references and hypotheses."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from misheard.errors import InputError
from misheard.scoring.texts import ANNOTATIONS, COSTS, UNITS, TextSettings

_USAGE = """misheard score RUN [--set a.b=VALUE ...] [--calibration FILE]
       misheard score --ref FILE --hyp FILE [--hyp FILE ...] [options]"""

_DESCRIPTION = """Score a run again from its journal, without any model, and replace its report files; or
score files of references and hypotheses, paired by id where both sides have ids, else by line. See
docs/scoring-files.md for formats and examples."""


_RUN_ONLY = ("overrides", "calibration")


class _Formatter(argparse.HelpFormatter):
    """Begins like the help of the other commands."""

    def add_usage(
        self,
        usage: str | None,
        actions: Iterable[argparse.Action],
        groups: Iterable[argparse._MutuallyExclusiveGroup],
        prefix: str | None = None,
    ) -> None:
        super().add_usage(usage, actions, groups, "Usage: " if prefix is None else prefix)


class _AtLeast:
    """Parses an integer that has a lower bound."""

    def __init__(self, lowest: int) -> None:
        self._lowest = lowest

    def __call__(self, value: str) -> int:
        number = int(value)
        if number < self._lowest:
            raise argparse.ArgumentTypeError(f"must be at least {self._lowest}")
        return number

    def __repr__(self) -> str:
        return "integer"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "misheard score",
        usage=_USAGE,
        description=_DESCRIPTION,
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("run", nargs="?", metavar="RUN", help="directory of a run")
    parser.add_argument(
        "--set", action="append", metavar="a.b=VALUE", default=[], dest="overrides",
        help="change an option of the run's config for this scoring; may be given again",
    )  # fmt: skip
    parser.add_argument(
        "--calibration", metavar="FILE",
        help="calibration of the judge (misheard judge calibrate), in place of the one that the run has",
    )  # fmt: skip
    add_files = parser.add_argument_group("files").add_argument
    add_files("--ref", metavar="FILE", help="references; - reads standard input")
    add_files(
        "--hyp", metavar="FILE", action="append", help="hypotheses; give it again for each further system"
    )
    add_files(
        "--format",
        metavar="FORMAT",
        help="format of all files, instead of a guess for each: lines, trn, csv, json and more",
    )
    add_files("--ref-field", metavar="NAME", help="column or key of the references")
    add_files("--hyp-field", metavar="NAME", help="column or key of the hypotheses")
    add_files("--id-field", metavar="NAME", help="column or key of the ids")
    add_files(
        "--missing",
        choices=("error", "deletions"),
        default="error",
        help="what an id without a hypothesis is",
    )
    add_files("--sessions", metavar="FILE", help="lines of `id session`: resample sessions, not utterances")
    add_texts = parser.add_argument_group("how texts are compared").add_argument
    add_texts(
        "--profile",
        default="nfc",
        metavar="NAME",
        help="what texts become first: exact, nfc, plain or spoken",
    )
    add_texts("--unit", choices=UNITS, default="words", help="what is counted")
    add_texts("--language", metavar="TAG", help="language of the texts, such as en")
    add_texts("--costs", choices=COSTS, default="unit", help="sclite: substitutions cost 4, others 3")
    add_texts(
        "--annotations", choices=ANNOTATIONS, default="keep", help="what becomes of (laughs) and [noise]"
    )
    add_texts("--alternatives", action="store_true", help="accept either in references with {a / b}")
    _add_output(parser.add_argument_group("what is printed"))
    return parser


def _add_output(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--output", choices=("table", "json", "csv"), default="table", help="what is written to stdout"
    )
    group.add_argument(
        "--align", action="store_true", help="print the alignments of what has errors; in table and JSON"
    )
    group.add_argument(
        "--align-limit",
        type=_AtLeast(1),
        metavar="N",
        help="at most so many alignments of each hypothesis; without it all",
    )
    group.add_argument(
        "--confusions", type=_AtLeast(1), metavar="N", help="so many of the most frequent edits of each kind"
    )
    group.add_argument("--intervals", action="store_true", help="an interval for a single hypothesis too")
    group.add_argument(
        "--resamples", type=_AtLeast(100), default=10_000, metavar="N", help="resamples of the bootstrap"
    )
    group.add_argument("--seed", type=_AtLeast(0), default=1, metavar="N", help="seed of the bootstrap")


def score(arguments: Sequence[str]) -> None:
    """Parse, call, print. Ends the process where arguments are wrong (2) or items of a run failed (1)."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.run is None and options.ref is not None and options.hyp and not _of_run(options):
        _check_csv(options)
        _score_files(options)
    elif options.run is not None and options.ref is None and not options.hyp:
        _check_run(options, parser.parse_args([options.run]))
        _score_run(Path(options.run), options.overrides, options.calibration)
    else:
        raise InputError("score: give the directory of a run, or --ref and --hyp with files; see --help")


def _of_run(options: argparse.Namespace) -> bool:
    """Whether an option is given that only a run takes."""
    return any(getattr(options, name) for name in _RUN_ONLY)


def _check_csv(options: argparse.Namespace) -> None:
    """Refuse what CSV, a row of counts per utterance and hypothesis, has no place for."""
    asked = [name for name in ("align", "align_limit", "confusions", "intervals") if getattr(options, name)]
    if options.output == "csv" and asked:
        raise InputError(
            f"score: --output csv holds counts alone; leave {_options(asked)} out, or use --output json"
        )


def _check_run(options: argparse.Namespace, bare: argparse.Namespace) -> None:
    """Refuse options of files beside a run: `bare` is what the run alone would be parsed to."""
    asked = [
        name
        for name, value in vars(options).items()
        if value != getattr(bare, name) and name not in _RUN_ONLY
    ]
    if asked:
        raise InputError(
            f"score: a run takes --set and --calibration alone; leave {_options(asked)} out (report.json "
            "holds every figure)"
        )


def _options(names: Sequence[str]) -> str:
    return ", ".join("--" + name.replace("_", "-") for name in names)


def _score_files(options: argparse.Namespace) -> None:
    from misheard.scoring.command import PrintOptions, print_scores
    from misheard.scoring.files import FilesRequest

    request = FilesRequest(
        reference=options.ref,
        hypotheses=tuple(options.hyp),
        settings=TextSettings(
            options.profile, options.unit, options.language, options.costs, options.annotations
        ),
        format=options.format,
        missing=options.missing,
        sessions=options.sessions,
        alternatives=options.alternatives,
        reference_field=options.ref_field,
        hypothesis_field=options.hyp_field,
        id_field=options.id_field,
    )
    printed = PrintOptions(
        output=options.output,
        align=options.align or options.align_limit is not None,
        align_limit=options.align_limit,
        confusions=options.confusions,
        intervals=options.intervals,
        resamples=options.resamples,
        seed=options.seed,
    )
    print_scores(request, printed)


def _score_run(run: Path, overrides: Sequence[str], calibration: str | None) -> None:
    import typer

    from misheard.console import stdout
    from misheard.report.terminal import render_report
    from misheard.run.directory import RunDirectory
    from misheard.run.judgements import replace_calibration
    from misheard.run.rescoring import earlier_report, rescoring_notes
    from misheard.run.scoring import score_run

    directory = RunDirectory.open(run)
    if calibration is not None:
        replace_calibration(directory, Path(calibration))
    earlier = earlier_report(run)
    scored = score_run(directory, overrides)
    stdout.print(render_report(scored.report))
    for note in rescoring_notes(run, earlier, scored.report["scorer"]):
        typer.echo(f"note: {note}", err=True)
    if scored.report["failures"]["samples_failed"]:
        raise SystemExit(1)
