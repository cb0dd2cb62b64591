from misheard.failures import FailureKind
from misheard.language_models.fake import FakeModel
from misheard.language_models.protocol import ChatRequest, Completion, LanguageModel, Message, Sampling
from misheard.language_models.settings import FakeSettings


def ask(settings: FakeSettings, *questions: str) -> list[Completion]:
    model: LanguageModel = FakeModel(settings)
    model.start()
    requests = [
        ChatRequest(str(n), (Message("system", "Be brief."), Message("user", question)))
        for n, question in enumerate(questions)
    ]
    return list(model.complete(requests, Sampling(max_tokens=8)))


def test_it_echoes_answers_from_the_table_and_fails_as_scripted() -> None:
    settings = FakeSettings(answers={"a": "<think>x</think>A", "b": ""}, failures={"c": "timeout"})
    completions = ask(settings, "a", "b", "c", "other")
    assert [c.text for c in completions] == ["A", None, None, "other"]
    assert [c.failure for c in completions] == [
        None,
        FailureKind.INVALID_OUTPUT,
        FailureKind.TIMEOUT,
        None,
    ]
    assert [c.key for c in completions] == ["0", "1", "2", "3"]


def test_the_default_answers_everything_else() -> None:
    assert [c.text for c in ask(FakeSettings(default="I do not know."), "x", "y")] == ["I do not know."] * 2


def test_the_fingerprint_follows_the_answers_and_quotes_none() -> None:
    one, two = (FakeModel(FakeSettings(answers={"CANARY": text})).fingerprint() for text in "ab")
    assert one != two
    assert "CANARY" not in str(one)
    slow = FakeModel(FakeSettings(answers={"CANARY": "a"}, delay_seconds=1)).fingerprint()
    assert slow == one


def test_it_records_what_it_was_asked() -> None:
    model = FakeModel(FakeSettings())
    for keys in (("a", "b"), ("c",)):
        requests = [ChatRequest(key, (Message("user", "q"),)) for key in keys]
        list(model.complete(requests, Sampling(max_tokens=1)))
    assert model.calls == [("a", "b"), ("c",)]
