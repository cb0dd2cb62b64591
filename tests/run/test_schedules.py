"""Serial and overlapping runs, and audits that ask everything again."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from misheard.audio.decode import DecodedAudio
from misheard.config import load_config
from misheard.errors import BackendError, IncompleteRunError
from misheard.language_models.fake import FakeModel
from misheard.language_models.protocol import ChatRequest, Completion, Sampling
from misheard.recognizers.fake import FakeRecognizer
from misheard.recognizers.protocol import AudioWindow, Features, RecognizedBatch
from misheard.run.audio_store import AudioStore
from misheard.run.beside import Beside
from misheard.run.clock import Clock
from misheard.run.context import RunOptions
from misheard.run.directory import RunDirectory
from misheard.run.journal import read_batches
from misheard.run.progress import NoProgress
from misheard.run.runner import run
from misheard.run.scoring import score_run
from misheard.suite.items import Item

MakePath = Callable[..., Path]

OVERLAP, AUDIT = "execution.schedule=overlap", "execution.mode=audit"


def report_of(config: Path, suite: Path, out: Path, *sets: str, resume: bool = False) -> dict[str, Any]:
    options = RunOptions(out, suite, cpu=True, resume=resume)
    return run(load_config(config, sets), options, NoProgress(), Clock()).report


def same(report: dict[str, Any]) -> dict[str, Any]:
    """Return what two runs of one system have in common, however they were carried out."""
    return {**report, "timings": None, "determinism": None}


def test_both_schedules_give_the_same_report(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, config = make_suite(), make_config(correct={})
    serial = report_of(config, suite, tmp_path / "serial")
    overlap = report_of(config, suite, tmp_path / "overlap", OVERLAP)
    assert same(serial) == same(overlap)
    assert [one["determinism"]["schedule"] for one in (serial, overlap)] == ["serial", "overlap"]


def test_real_time_factors_and_energy_are_published_from_serial_alone(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, config = make_suite(), make_config()
    serial = report_of(config, suite, tmp_path / "serial")["timings"]
    overlap = report_of(config, suite, tmp_path / "overlap", OVERLAP)["timings"]
    assert serial["rtf_inference"] is not None and serial["rtf_reason"] is None
    assert (overlap["rtf_inference"], overlap["rtf_end_to_end"]) == (None, None)
    assert overlap["rtf_reason"] == "schedule overlap"
    energy = overlap["telemetry"][0]["stages"]["recognize"]["energy"]["cpu"]
    assert energy["net_joules"] == {"value": None, "reason": "schedule_overlap"}


def test_the_transcript_arm_is_answered_while_recognition_runs(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()
    seen: list[bool] = []
    hear, answer = FakeRecognizer.recognize, FakeModel.complete

    def waiting(
        self: FakeRecognizer, batch: Sequence[AudioWindow], features: Features | None = None
    ) -> RecognizedBatch:
        # the first batch comes before the model starts, so that the recognizer has its memory by then
        if seen:
            asked.wait(30)
        seen.append(asked.is_set())
        return hear(self, batch, features)

    def noted(self: FakeModel, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
        asked.set()
        return answer(self, requests, sampling)

    monkeypatch.setattr(FakeRecognizer, "recognize", waiting)
    monkeypatch.setattr(FakeModel, "complete", noted)
    report_of(make_config(), make_suite(), tmp_path / "out", OVERLAP)
    assert seen[0] is False and seen[1:] and all(seen[1:])


def test_a_recognizer_that_breaks_meanwhile_ends_the_run(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, config, out = make_suite(), make_config(), tmp_path / "out"
    hear, calls = FakeRecognizer.recognize, []

    def breaking(
        self: FakeRecognizer, batch: Sequence[AudioWindow], features: Features | None = None
    ) -> RecognizedBatch:
        calls.append(len(batch))
        if len(calls) == 2:
            raise BackendError("recognizer: gone")
        return hear(self, batch, features)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeRecognizer, "recognize", breaking)
        with pytest.raises(BackendError, match="recognizer: gone"):
            report_of(config, suite, out, OVERLAP)
    again = report_of(config, suite, out, OVERLAP, resume=True)
    assert same(again) == same(report_of(config, suite, tmp_path / "unbroken", OVERLAP))


@pytest.mark.parametrize("error", [BackendError("language_model: gone"), KeyboardInterrupt()])
def test_a_model_that_breaks_meanwhile_ends_recognition_too(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath, error: BaseException
) -> None:
    suite, config, out = make_suite(speech=12), make_config(), tmp_path / "out"

    def breaking(
        self: FakeModel, requests: Sequence[ChatRequest], sampling: Sampling
    ) -> Iterator[Completion]:
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeModel, "complete", breaking)
        with pytest.raises(type(error)):
            report_of(config, suite, out, OVERLAP, "recognizer.delay_seconds=0.3")
    assert not [one for one in threading.enumerate() if one.name.startswith("misheard-recognition")]
    done = [b for b in read_batches(RunDirectory(out).recognize) if b.rows]
    assert len(done) < 7
    again = report_of(config, suite, out, OVERLAP, "recognizer.delay_seconds=0.3", resume=True)
    unbroken = report_of(config, suite, tmp_path / "unbroken", OVERLAP, "recognizer.delay_seconds=0.3")
    assert same(again) == same(unbroken)


def test_planning_that_is_interrupted_meanwhile_ends_at_the_next_recording(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, stop = AudioStore.get, Beside.stop
    decoded: list[str] = []
    stopped = threading.Event()

    def interrupting(self: AudioStore, item: Item) -> DecodedAudio:
        decoded.append(item.id)
        if len(decoded) == 2:
            os.kill(os.getpid(), signal.SIGINT)
            stopped.wait(30)
        return read(self, item)

    def noted(self: Beside) -> None:
        stop(self)
        stopped.set()

    monkeypatch.setattr(AudioStore, "get", interrupting)
    monkeypatch.setattr(Beside, "stop", noted)
    with pytest.raises(KeyboardInterrupt):
        report_of(make_config(), make_suite(speech=12), tmp_path / "out", OVERLAP)
    assert len(decoded) == 2
    assert not RunDirectory(tmp_path / "out").plan.exists()


def test_an_audit_of_what_repeats_itself_counts_no_change(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, config = make_suite(), make_config(correct={})
    audited = report_of(config, suite, tmp_path / "audit", AUDIT)
    assert "audit:recognition" in audited["timings"]["telemetry"][0]["stages"]
    found = audited["determinism"]
    assert (found["mode"], found["repeats"], found["recognizer"]["windows"]) == ("audit", 2, 7)
    assert found["recognizer"]["repeated"]["changed"] == found["recognizer"]["alone"]["changed"] == 0
    assert set(found["stages"]) == {"correct", "respond"}
    assert found["stages"]["respond"]["requests"] == 6
    assert all(stage["changed"] == 0 and stage["arm"] == "transcript" for stage in found["stages"].values())
    assert same(audited) == same(report_of(config, suite, tmp_path / "fast"))


def test_an_audit_counts_windows_and_answers_that_change(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    hear, answer = FakeRecognizer.recognize, FakeModel.complete
    calls: list[str] = []

    def by_batch(
        self: FakeRecognizer, batch: Sequence[AudioWindow], features: Features | None = None
    ) -> RecognizedBatch:
        """One window in a batch of its own is heard otherwise than among others."""
        found = hear(self, batch, features)
        if len(batch) > 1:
            return found
        import dataclasses

        windows = tuple(dataclasses.replace(one, text="alone") for one in found.windows)  # type: ignore[type-var]
        return dataclasses.replace(found, windows=windows)

    def by_load(self: FakeModel, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
        """The second time that a question is asked it is answered otherwise."""
        import dataclasses

        for one in answer(self, requests, sampling):
            question = next(r for r in requests if r.key == one.key).messages[-1].content
            calls.append(question)
            repeated = "number 2" in question and calls.count(question) == 3
            yield dataclasses.replace(one, text="other") if repeated else one

    monkeypatch.setattr(FakeRecognizer, "recognize", by_batch)
    monkeypatch.setattr(FakeModel, "complete", by_load)
    out = tmp_path / "out"
    found = report_of(make_config(), make_suite(), out, AUDIT)["determinism"]
    # 7 windows in batches of 2: the last is alone in any case
    assert (found["recognizer"]["repeated"]["changed"], found["recognizer"]["alone"]["changed"]) == (0, 6)
    answers = found["stages"]["respond"]
    assert (answers["requests"], answers["changed"]) == (6, 1)
    assert answers["rate"] == pytest.approx(1 / 6) and answers["low"] > 0
    report = score_run(RunDirectory.open(out)).report
    assert report["determinism"] == found
    schema = json.loads((files("misheard.report") / "report.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(report)


def test_an_audit_that_was_interrupted_goes_on(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, config, out = make_suite(), make_config(), tmp_path / "out"
    answer, asked = FakeModel.complete, []

    def stopping(
        self: FakeModel, requests: Sequence[ChatRequest], sampling: Sampling
    ) -> Iterator[Completion]:
        for one in answer(self, requests, sampling):
            asked.append(one.key)
            if len(asked) == 20:
                raise KeyboardInterrupt
            yield one

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeModel, "complete", stopping)
        with pytest.raises(KeyboardInterrupt):
            report_of(config, suite, out, AUDIT)
    assert RunDirectory(out).audit("respond").is_file()
    again = report_of(config, suite, out, AUDIT, resume=True)
    unbroken = report_of(config, suite, tmp_path / "unbroken", AUDIT)
    assert {**again, "timings": None} == {**unbroken, "timings": None}
    committed = [batch.name for batch in read_batches(RunDirectory(out).audit("respond"))]
    assert len(committed) == len(set(committed))


@pytest.mark.parametrize("stage", ["recognize", "respond"])
def test_an_audit_without_its_end_is_not_counted(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath, stage: str
) -> None:
    suite, config, out = make_suite(), make_config(), tmp_path / "out"
    first = report_of(config, suite, out, AUDIT)
    directory = RunDirectory.open(out)
    path = directory.audit(stage)
    lines = path.read_bytes().splitlines(keepends=True)
    for rest in (lines[:-1], lines[:3]):
        path.write_bytes(b"".join(rest))
        with pytest.raises(IncompleteRunError, match=path.name):
            score_run(directory)
    again = report_of(config, suite, out, AUDIT, resume=True)
    assert {**again, "timings": None} == {**first, "timings": None}


def test_a_finished_audit_loads_nothing_again(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, config, out = make_suite(), make_config(), tmp_path / "out"
    first = report_of(config, suite, out, AUDIT)

    def never(*_: object) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(FakeRecognizer, "load", never)
    monkeypatch.setattr(FakeModel, "start", never)
    again = report_of(config, suite, out, AUDIT, resume=True)
    assert {**again, "timings": None} == {**first, "timings": None}
