"""A resumed run asks again what failed because of the server, and leaves what failed because of the item."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from misheard.config import load_config
from misheard.errors import NotComparableError, RunAbortedError
from misheard.failures import FailureKind
from misheard.language_models.fake import FakeModel
from misheard.language_models.protocol import ChatRequest, Completion, Sampling
from misheard.run.clock import Clock
from misheard.run.context import RunOptions
from misheard.run.progress import NoProgress
from misheard.run.runner import run
from misheard.run.scoring import Scored

MakePath = Callable[..., Path]


def run_here(
    config: Path, suite: Path, out: Path, *, resume: bool = False, fail_fast: bool = False
) -> Scored:
    options = RunOptions(out, suite, cpu=True, resume=resume, fail_fast=fail_fast)
    return run(load_config(config), options, NoProgress(), Clock())


def failing_with(kind: FailureKind, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = FakeModel.complete

    def complete(
        self: FakeModel, requests: Sequence[ChatRequest], sampling: Sampling
    ) -> Iterator[Completion]:
        for completion in whole(self, requests, sampling):
            question = next(r for r in requests if r.key == completion.key).messages[-1].content
            if "number 2" in question:
                yield Completion(completion.key, None, kind, "server trouble")
            else:
                yield completion

    monkeypatch.setattr(FakeModel, "complete", complete)


@pytest.mark.parametrize(
    ("kind", "left"),
    [(FailureKind.LLM_ERROR, 0), (FailureKind.TIMEOUT, 0), (FailureKind.PROMPT_TOO_LONG, 1)],
)
def test_server_trouble_is_asked_again(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath, kind: FailureKind, left: int
) -> None:
    suite, config, out = make_suite(), make_config(), tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        failing_with(kind, patch)
        assert run_here(config, suite, out).report["failures"]["samples_failed"] == 1
    again = run_here(config, suite, out, resume=True).report
    assert again["failures"]["samples_failed"] == left
    unbroken = run_here(config, suite, tmp_path / "unbroken").report
    if not left:
        assert {**again, "timings": None} == {**unbroken, "timings": None}


def test_fail_fast_is_not_stuck_on_yesterdays_failure(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, config, out = make_suite(), make_config(), tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        failing_with(FailureKind.TIMEOUT, patch)
        with pytest.raises(RunAbortedError, match="q02"):
            run_here(config, suite, out, fail_fast=True)
    assert run_here(config, suite, out, resume=True, fail_fast=True).report["failures"]["samples_failed"] == 0


def test_a_prompt_may_change_until_the_first_reply_and_not_after(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    prompt = tmp_path / "mine.yaml"
    prompt.write_text('user: "A {transcript}"\n')
    judge = {"questions": ["meaning"], "meaning_prompt": str(prompt.with_name("judge.yaml"))}
    Path(judge["meaning_prompt"]).write_text('user: "J {first} {second}"\n')
    suite, config, out = (
        make_suite(),
        make_config(respond={"prompt": str(prompt)}, judge=judge),
        tmp_path / "out",
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeModel, "complete", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_here(config, suite, out)
    prompt.write_text('user: "B {transcript}"\n')
    failing = pytest.MonkeyPatch()
    failing_with(FailureKind.LLM_ERROR, failing)
    run_here(config, suite, out, resume=True)
    failing.undo()
    prompt.write_text('user: "C {transcript}"\n')
    with pytest.raises(NotComparableError, match=r"respond\.prompt\.sha256; put it back"):
        run_here(config, suite, out, resume=True)
    prompt.write_text('user: "B {transcript}"\n')
    Path(judge["meaning_prompt"]).write_text('user: "K {first} {second}"\n')
    with pytest.raises(NotComparableError, match=r"judge\.meaning\.prompt\.sha256; put it back"):
        run_here(config, suite, out, resume=True)


def interrupted(self: FakeModel, requests: Sequence[ChatRequest], sampling: Sampling) -> Iterator[Completion]:
    raise KeyboardInterrupt
    yield


def test_a_refused_resume_leaves_a_complete_run_complete(
    tmp_path: Path, make_suite: MakePath, make_config: MakePath
) -> None:
    suite, out = make_suite(), tmp_path / "out"
    prompt = tmp_path / "terse.yaml"
    prompt.write_text("user: '{transcript}'\n")
    config = make_config(respond={"prompt": str(prompt)})
    with pytest.MonkeyPatch.context() as patch:
        # something is worth asking again, so that the model is started and its prompt compared
        failing_with(FailureKind.LLM_ERROR, patch)
        run_here(config, suite, out)
    before = (out / "run.json").read_bytes()
    prompt.write_text("user: 'In a word: {transcript}'\n")
    with pytest.raises(NotComparableError, match="prompt"):
        run_here(config, suite, out, resume=True)
    assert (out / "run.json").read_bytes() == before
