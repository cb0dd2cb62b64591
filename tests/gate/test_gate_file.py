"""Gate files from hands that may be hostile or tired: every problem at once, and none of it let through."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from made_up_runs import MadeUpRun

from misheard.errors import GateError, InputError
from misheard.gate.decide import decide_gate
from misheard.gate.gate_file import load_gate
from misheard.stats.gate import Rule

GUARD: dict[str, Any] = {"metric": "wer", "may_rise_by_at_most": 0.02}
GATE: dict[str, Any] = {"format": "misheard-gate/1", "guards": [GUARD]}


class NoAliases(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def write(path: Path, content: object) -> Path:
    file = path / "gate.yaml"
    file.write_text(content if isinstance(content, str) else yaml.dump(content, Dumper=NoAliases))
    return file


def with_guard(**changes: Any) -> dict[str, Any]:
    guard = {name: value for name, value in {**GUARD, **changes}.items() if value is not ...}
    return GATE | {"guards": [guard]}


PROBLEMS: dict[str, tuple[object, str]] = {
    "empty": ("", "must be a mapping"),
    "a list": ("[]", "must be a mapping"),
    "no YAML": ("guards: [", "not valid YAML at line 1"),
    "tag": ("format: !!python/object:os.system x", "tags are not allowed at line 1"),
    "anchor": ("a: &a [x]\nb: *a", "anchors and aliases are not allowed"),
    "bomb": ("a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]", "anchors and aliases are not allowed"),
    "duplicate key": ("format: misheard-gate/1\nformat: misheard-gate/1", "appears twice"),
    "nested": ("a: " + "[" * 100, "nested too deeply"),
    "no text": ("\x00", "not valid YAML"),
    "two documents": ("a: 1\n---\nb: 2", "not valid YAML"),
    "no format": ({"guards": [GUARD]}, "format: is missing"),
    "other format": (GATE | {"format": "misheard-gate/2"}, "format: must be 'misheard-gate/1'"),
    "nothing to check": ({"format": "misheard-gate/1"}, "would let everything pass"),
    "unknown option": (GATE | {"gaurds": []}, "gaurds: unknown option (did you mean 'guards'?)"),
    "unknown option of a guard": (
        with_guard(may_rise_by_at_mots=0.1),
        "guards[0].may_rise_by_at_mots: unknown option (did you mean 'may_rise_by_at_most'?)",
    ),
    "number for a key": ({**GATE, 7: 1}, "Keys should be strings"),
    "NaN margin": (with_guard(may_rise_by_at_most=float("nan")), "guards[0].may_rise_by_at_most"),
    "infinite margin": (with_guard(may_rise_by_at_most=float("inf")), "guards[0].may_rise_by_at_most"),
    "negative margin": (with_guard(may_rise_by_at_most=-0.1), "must be at least 0"),
    "margin in percent": (with_guard(may_rise_by_at_most=2), "must be at most 1"),
    "margin over every score": (with_guard(may_rise_by_at_most=101), "must be at most 100"),
    "share of failures over one": (GATE | {"failures": {"rate_at_most": 2}}, "must be at most 1"),
    "margin as text": (with_guard(may_rise_by_at_most="0.02"), "must be a number"),
    "margin without a dot": ("format: misheard-gate/1\nguards: [{metric: wer, at_most: 1e-2}]", "a number"),
    "margin is true": (with_guard(may_rise_by_at_most=True), "must be a number"),
    "no tolerance": (with_guard(may_rise_by_at_most=...), "give exactly one of may_rise_by_at_most"),
    "two tolerances": (with_guard(at_most=0.1), "give exactly one of"),
    "direction unsaid": (with_guard(may_rise_by_at_most=..., margin=0.1), "margin: unknown option"),
    "must hold": (GATE | {"primary": {"metric": "wer", "must": "hold"}}, "primary.must"),
    "no margin to improve by": (
        GATE | {"primary": {"metric": "wer", "must_fall_by_at_least": 0}},
        "primary.must_fall_by_at_least",
    ),
    "unknown arm": (with_guard(arm="golden"), "guards[0].arm"),
    "axis twice": (with_guard(by=["noise", "noise"]), "guards[0].by: names an axis twice"),
    "axis is no name": (with_guard(by=["Noise!"]), "is not the name of an axis"),
    "by is text": (with_guard(by="noise"), "guards[0].by: must be a list"),
    "where is no filter": (with_guard(where="noise"), "guards[0].where: "),
    "guards are no list": (GATE | {"guards": "wer"}, "guards: must be a list"),
    "guard is no mapping": (GATE | {"guards": ["wer"]}, "guards[0]: "),
    "unknown stage": (GATE | {"latency": [{"stage": "draw", "p95_seconds_at_most": 1}]}, "latency[0].stage"),
    "no time": (GATE | {"latency": [{"stage": "llm", "p95_seconds_at_most": 0}]}, "must be over 0"),
    "empty failures": (GATE | {"failures": {}}, "give count_at_most or rate_at_most"),
    "half a failure": (GATE | {"failures": {"count_at_most": 0.5}}, "must be a whole number"),
    "required by nothing": (GATE | {"required_slices": [{"by": []}]}, "required_slices[0].by"),
    "required none": (
        GATE | {"required_slices": [{"by": ["noise"], "items_at_least": 0}]},
        "required_slices[0].items_at_least",
    ),
    "two kinds of primary": (
        GATE
        | {
            "primary": {"metric": "wer", "must": "improve"},
            "primary_any_of": [{"metric": "cer", "must": "improve"}] * 2,
        },
        "not both",
    ),
    "any of one": (GATE | {"primary_any_of": [{"metric": "cer", "must": "improve"}]}, "needs two claims"),
    "any of slices": (
        GATE | {"primary_any_of": [{"metric": "cer", "must": "improve", "by": ["noise"]}] * 2},
        "primary_any_of[0].by: unknown option",
    ),
    "any of margins": (
        GATE | {"primary_any_of": [{"metric": "cer", "may_rise_by_at_most": 0.1}] * 2},
        "primary_any_of[0].may_rise_by_at_most: unknown option",
    ),
    "waived without a reason": (GATE | {"waived_axes": {"noise": ""}}, "waived_axes.noise"),
    "waived on two lines": (GATE | {"waived_axes": {"noise": "a\nb"}}, "a reason must be one line"),
    "too many guards": (GATE | {"guards": [GUARD] * 101}, "guards: must have at most 100 entries"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_gate_file_that_cannot_be_used_is_refused(tmp_path: Path, name: str) -> None:
    content, words = PROBLEMS[name]
    with pytest.raises(InputError) as caught:
        load_gate(write(tmp_path, content))
    assert caught.value.exit_code == 2
    assert words in str(caught.value)


def test_every_problem_is_listed_at_once(tmp_path: Path) -> None:
    bad = {"format": "x", "guards": [{"metric": 7}, {"metric": "wer", "at_most": 5}], "latency": 3}
    with pytest.raises(GateError) as caught:
        load_gate(write(tmp_path, bad))
    places = {problem.where for problem in caught.value.problems}
    assert places >= {"format", "guards[0].metric", "guards[1].at_most", "latency"}


@pytest.mark.parametrize(
    "prepare",
    [
        lambda path: None,
        lambda path: path.mkdir(),
        lambda path: path.write_bytes(b"\xff\xfe\xfd"),
        lambda path: path.write_bytes(b"#" * (1024 * 1024 + 1)),
    ],
    ids=["missing", "a folder", "not UTF-8", "too large"],
)
def test_what_is_no_readable_file_is_named(tmp_path: Path, prepare: Callable[[Path], None]) -> None:
    path = tmp_path / "gate.yaml"
    prepare(path)
    with pytest.raises(InputError, match=r"gate\.yaml: "):
        load_gate(path)


def test_a_gate_file_says_what_it_means(tmp_path: Path) -> None:
    file = load_gate(
        write(
            tmp_path,
            GATE
            | {
                "primary": {"metric": "primary", "must": "improve", "by": ["noise"]},
                "guards": [{"metric": "correct_rate", "arm": "transcript", "may_fall_by_at_most": 0}],
            },
        )
    )
    assert file.gate.primary is not None
    assert file.gate.primary.rule == (Rule.MUST_IMPROVE, 0.0)
    assert file.gate.guards[0].rule == (Rule.MAY_FALL, 0.0)
    assert file.gate.failures.count_at_most == 0


def test_the_fingerprint_is_of_what_a_gate_says_and_not_of_how(tmp_path: Path) -> None:
    first = load_gate(write(tmp_path, GATE)).sha256
    spelled = "# the same\nguards: [{may_rise_by_at_most: 2.0e-2, metric: wer}]\nformat: misheard-gate/1"
    assert load_gate(write(tmp_path, spelled)).sha256 == first
    assert load_gate(write(tmp_path, with_guard(may_rise_by_at_most=0.03))).sha256 != first


MISFITS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown metric": (with_guard(metric="werr"), "guards[0].metric: no metric 'werr' (did you mean 'wer'?)"),
    "arm without the metric": (
        with_guard(arm="control"),
        "guards[0].arm: wer is not measured in the control",
    ),
    "wrong direction": (
        with_guard(may_rise_by_at_most=..., may_fall_by_at_most=0.1),
        "wer is better when lower: give may_rise_by_at_most instead of may_fall_by_at_most",
    ),
    "wrong bound": (
        with_guard(metric="correct_rate", may_rise_by_at_most=..., at_most=0.1),
        "correct_rate is better when higher: give at_least instead of at_most",
    ),
    "no direction": (
        GATE | {"primary": {"metric": "abstention_rate", "must": "improve"}},
        "abstention_rate is better in neither direction",
    ),
    "unknown axis": (with_guard(by=["nose"]), "guards[0].by: unknown axis 'nose' (did you mean 'noise'?)"),
    "unknown axis of a filter": (with_guard(where="nose=5dB"), "guards[0].where: "),
    "unknown value of a filter": (with_guard(where="noise=6dB"), "no value '6dB' on the axis noise"),
    "unknown axis of a requirement": (
        GATE | {"required_slices": [{"by": ["mic"]}]},
        "required_slices[0].by: unknown axis 'mic'",
    ),
    "waiver of nothing": (GATE | {"waived_axes": {"mic": "why not"}}, "'mic' is no gate axis"),
    "hostile names": (
        with_guard(metric="::error::\x1b[31m", where="noise='; rm -rf /'"),
        "no metric '::error::\\x1b[31m'",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_the_run_is_named(tmp_path: Path, name: str) -> None:
    content, words = MISFITS[name]
    run = MadeUpRun().write(tmp_path / "run")
    with pytest.raises(GateError) as caught:
        decide_gate(write(tmp_path, content), run, None, tmp_path)
    assert words in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (MadeUpRun(primary={}), "names no primary metric; name the metric here"),
        (MadeUpRun(primary={"ta": "cer"}), "no primary metric for language 'en'"),
        (MadeUpRun(primary={"en": "werr"}), "no metric 'werr'"),
        (
            MadeUpRun(conditions=lambda number: {"noise": "clean"}),
            "no primary metric for items without a language",
        ),
        (
            MadeUpRun(primary={"en": "wer", "ta": "cer"}, axes={"noise": ["clean", "5dB"]}),
            "declares no axis language",
        ),
    ],
    ids=["none", "of another language", "unknown", "items without a language", "no axis"],
)
def test_a_suite_without_a_primary_metric_for_all_it_speaks_is_refused(
    tmp_path: Path, run: MadeUpRun, words: str
) -> None:
    gate = write(tmp_path, GATE | {"primary": {"metric": "primary", "must": "improve"}})
    with pytest.raises(GateError) as caught:
        decide_gate(gate, run.write(tmp_path / "run"), None, tmp_path)
    assert words in str(caught.value)


def test_scores_of_a_judge_have_tolerances_in_points(tmp_path: Path) -> None:
    guard = {"metric": "judge_meaning_score", "may_fall_by_at_most": 2.5}
    gate = load_gate(write(tmp_path, GATE | {"guards": [guard]}))
    assert gate.gate.guards[0].may_fall_by_at_most == 2.5
