"""The batch plan: complete, repeatable, independent of order, and read back as it was written."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from misheard.audio.decode import DecodedAudio, decode
from misheard.errors import IncompleteRunError
from misheard.failures import FailureKind
from misheard.run.plan import Plan, make_plan, read_plan, write_plan
from misheard.suite.items import Suite
from misheard.suite.manifest import load_suite

MakePath = Callable[..., Path]


def plan_of(suite: Suite, batch_size: int = 2, supports: bool = True) -> Plan:
    def read(item) -> DecodedAudio:  # type: ignore[no-untyped-def]
        return decode(suite.audio_path(item))

    return make_plan(suite, read, lambda _: supports, batch_size, lambda _: None)


def test_every_sample_is_planned_once_longest_first(make_suite: MakePath) -> None:
    suite = load_suite(make_suite(speech=7, silent=2))
    plan = plan_of(suite)
    assert [item.id for item in plan.items] == [item.id for item in suite.items]
    assert sorted(window.item for window in plan.windows) == [item.id for item in suite.items]
    lengths = [window.end - window.start for window in plan.windows]
    assert lengths == sorted(lengths, reverse=True)
    assert [len(batch) for batch in plan.batches()] == [2, 2, 2, 2, 1]


def test_the_plan_depends_on_content_and_not_on_place(make_suite: MakePath, tmp_path: Path) -> None:
    first = load_suite(make_suite(name="suite"))
    (tmp_path / "other").mkdir()
    moved = tmp_path / "other" / "suite"
    (tmp_path / "suite").rename(moved)
    assert plan_of(load_suite(moved)) == plan_of_before(first, moved)


def plan_of_before(suite: Suite, moved: Path) -> Plan:
    """Plan a suite that was loaded before it was moved, from where its recordings are now."""

    def read(item) -> DecodedAudio:  # type: ignore[no-untyped-def]
        return decode(moved / item.audio)

    return make_plan(suite, read, lambda _: True, 2, lambda _: None)


def test_a_long_recording_is_cut_into_windows_of_at_most_thirty_seconds(make_suite: MakePath) -> None:
    suite = load_suite(make_suite(speech=1, silent=0, seconds=75.0))
    windows = sorted(plan_of(suite).windows, key=lambda window: window.index)
    assert len(windows) >= 3
    assert windows[0].start == 0
    assert windows[-1].end == 75 * 16_000
    for before, after in itertools.pairwise(windows):
        assert before.end == after.start
    assert max(window.end - window.start for window in windows) <= 30 * 16_000


def test_recordings_that_cannot_be_used_are_failures_of_the_plan(make_suite: MakePath) -> None:
    root = make_suite(speech=3, silent=0)
    (root / "audio" / "q01.flac").write_bytes(b"")
    suite = load_suite(root)
    plan = plan_of(suite)
    kinds = [item.failure.kind if item.failure else None for item in plan.items]
    assert kinds[0] is kinds[2] is None
    assert kinds[1] in (FailureKind.AUDIO_EMPTY, FailureKind.AUDIO_UNDECODABLE)
    assert {window.item for window in plan.windows} == {"q00", "q02"}
    assert plan_of(suite, supports=False).windows == ()


def test_a_plan_is_read_as_it_was_written(make_suite: MakePath, tmp_path: Path) -> None:
    root = make_suite(speech=3)
    (root / "audio" / "q01.flac").write_bytes(b"nothing")
    plan = plan_of(load_suite(root))
    write_plan(tmp_path / "plan.jsonl", plan)
    assert read_plan(tmp_path / "plan.jsonl") == plan


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{}",
        "[]",
        '{"kind": "plan", "version": 99}',
        '{"kind": "plan"}\nnonsense',
        '{"kind":"plan","version":1}',
    ],
)
def test_a_file_that_is_no_plan_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "plan.jsonl").write_text(content)
    with pytest.raises(IncompleteRunError, match=r"plan\.jsonl"):
        read_plan(tmp_path / "plan.jsonl")


def test_a_quantised_copy_has_other_content(make_suite: MakePath) -> None:
    import soundfile

    root = make_suite(speech=2, silent=0)
    before = plan_of(load_suite(root))
    samples, rate = soundfile.read(root / "audio" / "q00.flac", dtype="float32")
    soundfile.write(root / "audio" / "q00.flac", np.roll(samples, 1), rate)
    after = plan_of(load_suite(root))
    assert before.items[0].sha256 != after.items[0].sha256
    assert before.items[1].sha256 == after.items[1].sha256
    assert before.suite_sha256 != after.suite_sha256
