#!/usr/bin/env python3
"""Scoring side by side: misheard, jiwer, rapidfuzz, kaldialign, werx, fastwer and NIST's sclite.

10,000 made-up pairs (about 22 words each, 15 % errors) from strings and from arrays, words and characters;
one pair of 20,000 words with the memory it takes; whole processes that score 129, 2,000 and 10,000 pairs.
Contestants take turns, round after round; the tables show medians, minima, and each median over that of the
first contestant, in wall time and in processor time, which other jobs on the machine disturb less. What is
warm stays warm between rounds, except for whole processes. Tools that are not installed are left out.

    scripts/bench/scoring.py [--rounds 7] [--section strings|arrays|long|process]
"""

import argparse
import importlib.util
import itertools
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from misheard_kernels import align_pairs, edit_counts, edit_distance_batch

Job = Callable[[], object]
Table = dict[str, Job]
SCLITE = shutil.which("sclite") or "/usr/lib/sctk/bin/sclite"
SLOW = 1.5
"""Seconds from which a contestant only takes part in the first round."""


def corpus(pairs: int = 10_000, seed: int = 0) -> tuple[list[str], list[str]]:
    """Return references and hypotheses of about 22 words and 15 % errors, some words frequent, most rare."""
    rng = random.Random(seed)
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(rng.choices(letters, k=1 + int(rng.expovariate(0.24)))) for _ in range(20_000)]
    weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(len(words))))

    def heard(word: str) -> list[str]:
        kind = rng.random()
        if kind < 0.85:
            return [word]
        other = rng.choices(words, cum_weights=weights)[0]
        return [other] if kind < 0.94 else [] if kind < 0.97 else [word, other]

    refs = [rng.choices(words, cum_weights=weights, k=max(1, round(rng.gauss(22, 9)))) for _ in range(pairs)]
    # jiwer's command drops empty lines and then counts different numbers of lines
    hyps = [[spoken for word in ref for spoken in heard(word)] or ref[:1] for ref in refs]
    return [" ".join(ref) for ref in refs], [" ".join(hyp) for hyp in hyps]


def installed(*modules: str) -> bool:
    """Return whether all of these can be imported."""
    return all(importlib.util.find_spec(module) for module in modules)


def timed(job: Job) -> tuple[float, float]:
    """Run a job; return its wall time and its processor time, of threads and children too, in seconds."""

    def processor() -> float:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime

    start, started = time.perf_counter(), processor()
    job()
    return time.perf_counter() - start, processor() - started


def measure(title: str, table: Table, rounds: int) -> None:
    """Print the times of the jobs, in turns."""
    warm_up = {name: timed(job) for name, job in table.items()}
    slow = {name for name, (wall, _) in warm_up.items() if wall > SLOW}
    times = {name: [warm_up[name]] if name in slow else [] for name in table}
    for _ in range(rounds):
        for name, job in table.items():
            if name not in slow:
                times[name].append(timed(job))
    medians = {
        name: [statistics.median(column) * 1e3 for column in zip(*measured, strict=True)]
        for name, measured in times.items()
    }
    first = next(iter(medians.values()))
    print(f"\n## {title}\n\n| | median ms | minimum ms | ratio | median processor ms | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, (wall, processor) in medians.items():
        least = min(wall for wall, _ in times[name]) * 1e3
        ratios = wall / first[0], processor / first[1]
        print(f"| {name} | {wall:.1f} | {least:.1f} | {ratios[0]:.2f} | {processor:.1f} | {ratios[1]:.2f} |")


def string_tables(refs: list[str], hyps: list[str]) -> dict[str, Table]:
    """Return the jobs that start from strings."""
    import misheard
    from misheard.text.interning import char_pairs, word_pairs

    words: Table = {
        "misheard.score, S/D/I": lambda: misheard.score(refs, hyps).errors,
        "misheard kernels, S/D/I": lambda: counts(word_pairs(refs, hyps)),
        "misheard kernels, distance": lambda: distances(word_pairs(refs, hyps)),
    }
    chars: Table = {
        "misheard.score, S/D/I": lambda: misheard.score(refs, hyps, unit="chars").errors,
        "misheard kernels, S/D/I": lambda: counts(char_pairs(refs, hyps)),
        "misheard kernels, distance": lambda: distances(char_pairs(refs, hyps)),
    }
    if installed("jiwer"):
        import jiwer

        words["jiwer, S/D/I"] = lambda: jiwer.process_words(refs, hyps)
        chars["jiwer, S/D/I"] = lambda: jiwer.process_characters(refs, hyps)
    if installed("rapidfuzz"):
        from rapidfuzz.distance import Levenshtein

        def split(find: Callable[[Sequence[str], Sequence[str]], object]) -> Job:
            return lambda: [find(ref.split(), hyp.split()) for ref, hyp in zip(refs, hyps, strict=True)]

        def whole(find: Callable[[str, str], object]) -> Job:
            return lambda: [find(ref, hyp) for ref, hyp in zip(refs, hyps, strict=True)]

        words["rapidfuzz editops, S/D/I"] = split(Levenshtein.editops)
        words["rapidfuzz, distance"] = split(Levenshtein.distance)
        chars["rapidfuzz editops, S/D/I (spaces too)"] = whole(Levenshtein.editops)
        chars["rapidfuzz, distance (spaces too)"] = whole(Levenshtein.distance)
    if installed("werx"):
        import werx

        words["werx, distance"] = lambda: werx.wer(refs, hyps)
    if installed("fastwer"):
        import fastwer

        words["fastwer, distance"] = lambda: fastwer.score(hyps, refs)
        chars["fastwer, distance"] = lambda: fastwer.score(hyps, refs, char_level=True)
    if installed("kaldialign"):
        import kaldialign

        both = list(zip(refs, hyps, strict=True))
        words["kaldialign, S/D/I"] = lambda: [kaldialign.edit_distance(r.split(), h.split()) for r, h in both]
        chars["kaldialign, S/D/I"] = lambda: [kaldialign.edit_distance(list(r), list(h)) for r, h in both]
    if Path(SCLITE).exists():
        words["sclite, process"] = lambda: sclite(refs, hyps)
    return {"words from strings": words, "characters from strings": chars}


def counts(pairs: object) -> object:
    """Count the edits of `TokenPairs`."""
    return edit_counts(pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat, pairs.hyp_offsets)  # type: ignore[attr-defined]


def distances(pairs: object) -> object:
    """Find the distances of `TokenPairs`."""
    return edit_distance_batch(pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat, pairs.hyp_offsets)  # type: ignore[attr-defined]


def sclite(refs: Sequence[str], hyps: Sequence[str]) -> None:
    """Run sclite on trn files, its report thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        for name, texts in (("ref", refs), ("hyp", hyps)):
            lines = (f"{text} (s-{number:06d})\n" for number, text in enumerate(texts))
            Path(folder, name).write_text("".join(lines))
        command = [
            SCLITE,
            "-r",
            f"{folder}/ref",
            "trn",
            "-h",
            f"{folder}/hyp",
            "trn",
            "-i",
            "rm",
            "-o",
            "rsum",
            "stdout",
        ]
        subprocess.run(command, check=True, capture_output=True)


def array_tables(refs: list[str], hyps: list[str]) -> dict[str, Table]:
    """Return the jobs whose tokens are numbers already."""
    from misheard.text.interning import char_pairs, word_pairs

    tables: dict[str, Table] = {}
    for title, pairs in (("words", word_pairs(refs, hyps)), ("characters", char_pairs(refs, hyps))):
        arrays = (pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat, pairs.hyp_offsets)
        table: Table = {
            "misheard, S/D/I": lambda a=arrays: edit_counts(*a),  # type: ignore[misc]
            "misheard, S/D/I, one thread": lambda a=arrays: edit_counts(*a, threads=1),  # type: ignore[misc]
            "misheard, distance": lambda a=arrays: edit_distance_batch(*a),  # type: ignore[misc]
            "misheard, alignments": lambda a=arrays: align_pairs(*a),  # type: ignore[misc]
            "misheard, S/D/I as sclite": lambda a=arrays: edit_counts(*a, costs="sclite"),  # type: ignore[misc]
            "misheard, S/D/I as jiwer": lambda a=arrays: edit_counts(*a, ties="jiwer"),  # type: ignore[misc]
        }
        if installed("rapidfuzz"):
            from rapidfuzz.distance import Levenshtein

            # strings are what rapidfuzz is quickest with
            sides = [
                ["".join(map(chr, flat[a:b].tolist())) for a, b in itertools.pairwise(ends.tolist())]
                for flat, ends in ((arrays[0], arrays[1]), (arrays[2], arrays[3]))
            ]
            both = list(zip(*sides, strict=True))
            table["rapidfuzz editops, S/D/I"] = lambda b=both: [Levenshtein.editops(*p) for p in b]  # type: ignore[misc]
            table["rapidfuzz, distance"] = lambda b=both: [Levenshtein.distance(*p) for p in b]  # type: ignore[misc]
        tables[f"{title} from arrays"] = table
    return tables


LONG_SETUP = """
import sys, time
import numpy as np
sys.path.insert(0, sys.argv[1])
from scoring import corpus
refs, hyps = corpus(1000)
ref, hyp = " ".join(refs).split()[:20_000], " ".join(hyps).split()[:20_000]
numbers = {}
ref, hyp = ([numbers.setdefault(word, len(numbers)) for word in side] for side in (ref, hyp))
"""
LONG_WARM = "one, two = [1, 2, 3], [2, 3, 4]\n"
"""Libraries are loaded before memory is measured."""
LONG_JOBS = {
    "misheard, S/D/I": """
from misheard_kernels import edit_counts
import misheard_kernels.batches, misheard_kernels.long_pairs
def job(ref, hyp):
    a, b = np.array(ref, np.int32), np.array(hyp, np.int32)
    return edit_counts(a, np.array([0, len(a)]), b, np.array([0, len(b)]))
""",
    "misheard, distance": """
from misheard_kernels import edit_distance_batch
import misheard_kernels.batches, misheard_kernels.long_pairs
def job(ref, hyp):
    a, b = np.array(ref, np.int32), np.array(hyp, np.int32)
    return edit_distance_batch(a, np.array([0, len(a)]), b, np.array([0, len(b)]))
""",
    "misheard, alignment": """
from misheard_kernels import align
import misheard_kernels.batches, misheard_kernels.long_pairs
def job(ref, hyp):
    return align(np.array(ref, np.int32), np.array(hyp, np.int32))
""",
    "rapidfuzz editops, S/D/I": "from rapidfuzz.distance import Levenshtein\njob = Levenshtein.editops\n",
    "rapidfuzz, distance": "from rapidfuzz.distance import Levenshtein\njob = Levenshtein.distance\n",
    "jiwer, S/D/I": """
import jiwer
def job(ref, hyp):
    return jiwer.process_words(" ".join(map(str, ref)), " ".join(map(str, hyp)))
""",
    "kaldialign, S/D/I": "import kaldialign\njob = kaldialign.edit_distance\n",
}
LONG_RUN = """
def kilobytes(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name + ":"))
job(one, two)
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")
before = kilobytes("VmRSS")
start, started = time.perf_counter(), time.process_time()
job(ref, hyp)
print(time.perf_counter() - start, time.process_time() - started, (kilobytes("VmHWM") - before) / 1024)
"""


def long_pair(rounds: int) -> None:
    """Print time and memory of one pair of 20,000 words, each measurement in a process of its own."""
    measured: dict[str, list[tuple[float, ...]]] = {}
    for _ in range(rounds):
        for name, job in LONG_JOBS.items():
            if not installed(name.split()[0].strip(",")) and not name.startswith("misheard"):
                continue
            code = LONG_SETUP + LONG_WARM + job + LONG_RUN
            done = subprocess.run(
                [sys.executable, "-c", code, str(Path(__file__).parent)],
                capture_output=True,
                text=True,
                check=True,
            )
            measured.setdefault(name, []).append(tuple(map(float, done.stdout.split())))
    medians = {name: [*map(statistics.median, zip(*runs, strict=True))] for name, runs in measured.items()}
    first = next(iter(medians.values()))
    print("\n## one pair, 20,000 × 20,000 words\n")
    print("| | median ms | minimum ms | ratio | median processor ms | ratio | extra memory, MB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, (wall, processor, _) in medians.items():
        least, memory = min(run[0] for run in measured[name]), max(run[2] for run in measured[name])
        ratios = f"{wall / first[0]:.2f} | {processor * 1e3:.1f} | {processor / first[1]:.2f}"
        print(f"| {name} | {wall * 1e3:.1f} | {least * 1e3:.1f} | {ratios} | {memory:.1f} |")


def measure_processes(refs: list[str], hyps: list[str], folder: Path, rounds: int) -> None:
    """Print the times of whole processes that score the first pairs."""
    ref_file, hyp_file = folder / "ref.txt", folder / "hyp.txt"
    commands = Path(sys.executable).parent

    def run(*command: object) -> Job:
        return lambda: subprocess.run(list(map(str, command)), check=True, capture_output=True)

    def python(module: str, call: str) -> Job:
        texts = f"open({str(ref_file)!r}).read().splitlines(), open({str(hyp_file)!r}).read().splitlines()"
        return run(sys.executable, "-c", f"import {module}; {module}.{call}({texts})")

    table: Table = {
        "misheard.score": python("misheard", "score"),
        "misheard score --ref --hyp": run(
            commands / "misheard", "score", "--ref", ref_file, "--hyp", hyp_file
        ),
    }
    if installed("jiwer"):
        table["jiwer.process_words"] = python("jiwer", "process_words")
        table["jiwer -r -h"] = run(commands / "jiwer", "-r", ref_file, "-h", hyp_file)
    table["a bare interpreter"] = run(sys.executable, "-c", "pass")
    for size in (129, 2_000, 10_000):
        ref_file.write_text("".join(f"{text}\n" for text in refs[:size]))
        hyp_file.write_text("".join(f"{text}\n" for text in hyps[:size]))
        measure(f"whole processes, {size:,} pairs", table, rounds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--section", choices=["strings", "arrays", "long", "process"], action="append")
    options = parser.parse_args()
    sections = options.section or ["strings", "arrays", "long", "process"]
    refs, hyps = corpus()
    print(f"{len(refs):,} pairs, {sum(len(ref.split()) for ref in refs):,} reference words")
    if "strings" in sections or "arrays" in sections:
        import misheard_kernels.batches
        import misheard_kernels.interning_compiled
        import misheard_kernels.lanes  # noqa: F401
    if "strings" in sections:
        for title, table in string_tables(refs, hyps).items():
            measure(title, table, options.rounds)
    if "arrays" in sections:
        for title, table in array_tables(refs, hyps).items():
            measure(title, table, options.rounds)
    if "long" in sections:
        long_pair(options.rounds)
    if "process" in sections:
        with tempfile.TemporaryDirectory() as folder:
            measure_processes(refs, hyps, Path(folder), options.rounds)


if __name__ == "__main__":
    main()
