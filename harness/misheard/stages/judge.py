"""The judge: how far two texts say the same, from 0 to 100, as a pinned model sees it.

The model gives a rationale before its score, because a score that follows its reasons is the better one.
What it says about the texts is dropped as soon as the reply is read: `kept_reply` leaves the score, or the
kind of what was wrong with the reply, and nothing else of it is journaled.

A reply counts where it is valid under `JUDGE_SCHEMA`, whoever made it: a JSON object with exactly the keys
`rationale`, a text, and `score`, an integer from 0 to 100. `true`, `80.0`, `"80"`, a further key, a key that
stands twice, and JSON in a code fence or with words around it are no such reply. No digits are searched for
in other text. Two liberties: white space around the object, and the length of the rationale, which is
dropped anyway.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from misheard.canonical import canonical_json, sha256_json
from misheard.config import JudgeQuestion
from misheard.failures import FailureKind
from misheard.language_models.protocol import ChatRequest, Completion, Sampling
from misheard.metrics.base import Arm, ArmOutput, Judgement
from misheard.stages.prompts import PromptTemplate
from misheard.suite.items import Item
from misheard.text.profiles import profile_named

BEST = 100
"""The score of two texts that say the same."""

JUDGE_SCHEMA = canonical_json(
    {
        "type": "object",
        "properties": {
            "rationale": {"type": "string", "maxLength": 200},
            "score": {"type": "integer", "minimum": 0, "maximum": BEST},
        },
        "required": ["rationale", "score"],
        "additionalProperties": False,
    }
)
"""Canonical JSON sorts its keys, so the rationale comes first where a server follows the order."""

JUDGE_NEEDS: Mapping[JudgeQuestion, tuple[str, ...]] = {
    "meaning": ("first", "second"),
    "answer": ("asked", "first", "second"),
}
"""The placeholders that a prompt of each question must hold."""

Second = Literal["swapped", "repeated", "none"]
View = Literal["plain", "swapped", "repeated"]


class InvalidReply(StrEnum):
    """Why a reply gives no score: the request failed, the limit of tokens cut it, or it is no such JSON."""

    FAILED = "failed"
    CUT = "cut"
    NOT_JSON = "not_json"
    NOT_THE_SCHEMA = "not_the_schema"
    OUT_OF_RANGE = "out_of_range"


Reply = int | InvalidReply


@dataclass(frozen=True, slots=True)
class JudgedTexts:
    """What one question is asked about.

    Attributes:
        reference: the human text.
        candidate: the text that is judged.
        asked: the question that both answer; None where the texts are no answers.
    """

    reference: str
    candidate: str
    asked: str | None = None

    @property
    def identical(self) -> bool:
        """Whether the two differ in nothing but Unicode form and white space.

        They score 100 without being asked about: no judge can know better, and so a system that makes no
        error loses exactly nothing.
        """
        same_form = profile_named("nfc")
        return same_form.apply(self.reference, None) == same_form.apply(self.candidate, None)


@dataclass(frozen=True, slots=True)
class Judge:
    """One question of the judge with pinned settings.

    Attributes:
        question: `meaning` or `answer`.
        prompt: with the placeholders of JUDGE_NEEDS.
        sampling: greedy, held to JUDGE_SCHEMA; see `judge_sampling`.
        engine: the fingerprint of the language model.
        second: how each question is asked again.
        threshold: a score from here on says yes. It decides flips alone and is no part of the fingerprint:
            another one is a matter of scoring.
    """

    question: JudgeQuestion
    prompt: PromptTemplate
    sampling: Sampling
    engine: Mapping[str, Any]
    second: Second = "swapped"
    threshold: int = 50

    def fingerprint(self) -> dict[str, Any]:
        """Return everything that decides a score, given the texts."""
        return {
            "stage": "judge",
            "question": self.question,
            "prompt": self.prompt.fingerprint(),
            "sampling": self.sampling.as_dict(),
            "engine": dict(self.engine),
            "second": self.second,
        }

    def requests(self, texts: JudgedTexts, language: str | None) -> dict[View, ChatRequest]:
        """Return a request per view of two texts; equal texts in one language have equal keys.

        In the view `swapped` the texts change places; `repeated` is an execution of its own.
        """
        requests: dict[View, ChatRequest] = {"plain": self._request(texts, language, "plain")}
        if self.second != "none":
            requests[self.second] = self._request(texts, language, self.second)
        return requests

    def _request(self, texts: JudgedTexts, language: str | None, view: View) -> ChatRequest:
        first, second = texts.reference, texts.candidate
        if view == "swapped":
            first, second = second, first
        values = {"first": first, "second": second}
        if texts.asked is not None:
            values["asked"] = texts.asked
        messages = self.prompt.messages(values, language)
        content = [[message.role, message.content] for message in messages]
        execution = "repeated" if view == "repeated" else "shared"
        return ChatRequest(sha256_json([self.fingerprint(), content, execution]), messages)


def judge_sampling(max_tokens: int, seed: int) -> Sampling:
    """Return the sampling of every judge: temperature 0, held to the schema of its reply."""
    return Sampling(max_tokens=max_tokens, seed=seed, json_schema=JUDGE_SCHEMA)


def judged_texts(
    item: Item, arm: Arm, output: ArmOutput, questions: Sequence[JudgeQuestion]
) -> dict[JudgeQuestion, JudgedTexts]:
    """Return what the judge is asked about one output, per question.

    `meaning`: in the audio arm, the reference of a speech item against the transcript that went on,
    corrected where there is a corrector. `answer`: the reference answer against the answer. What failed or
    is blank is not asked about.
    """
    found: dict[JudgeQuestion, JudgedTexts] = {}
    if not item.is_speech:
        return found
    heard = output.transcript if output.correction is None else output.correction.text
    if "meaning" in questions and arm is Arm.AUDIO and heard is not None and heard.strip():
        found["meaning"] = JudgedTexts(item.reference, heard)
    answer, reference = output.answer, item.reference_answer
    if "answer" in questions and reference is not None and answer is not None and answer.strip():
        found["answer"] = JudgedTexts(reference, answer, asked=item.reference)
    return found


def read_reply(text: str | None, failure: FailureKind | None, finish_reason: str | None) -> Reply:
    """Return the score of a reply, or why it is none; see the top of this module. Never raises."""
    if failure is not None or text is None:
        return InvalidReply.FAILED
    value = _parsed(text)
    if value is _NO_JSON:
        return InvalidReply.CUT if finish_reason == "length" else InvalidReply.NOT_JSON
    if not isinstance(value, dict) or set(value) != {"rationale", "score"}:
        return InvalidReply.NOT_THE_SCHEMA
    score = value["score"]
    # the type itself: a bool is an int too
    if not isinstance(value["rationale"], str) or type(score) is not int:
        return InvalidReply.NOT_THE_SCHEMA
    return score if 0 <= score <= BEST else InvalidReply.OUT_OF_RANGE


def kept_reply(completion: Completion) -> Completion:
    """Return a completion whose text is `{"score":83}` or `{"invalid":"not_json"}`; a failed one has none."""
    if completion.failure is not None:
        return replace(completion, text=None)
    reply = read_reply(completion.text, completion.failure, completion.finish_reason)
    kept = {"invalid": str(reply)} if isinstance(reply, InvalidReply) else {"score": reply}
    return replace(completion, text=canonical_json(kept))


def read_kept(row: Mapping[str, Any]) -> Reply:
    """Return what `kept_reply` kept, from a completion of the journal. Never raises."""
    value = None if row.get("failure") is not None else _parsed(str(row.get("text")))
    if not isinstance(value, dict):
        return InvalidReply.FAILED
    score = value.get("score")
    if type(score) is int and 0 <= score <= BEST:
        return score
    named = value.get("invalid")
    return InvalidReply(named) if named in set(InvalidReply) else InvalidReply.NOT_THE_SCHEMA


def judgement(plain: Reply, second: Reply | None, threshold: int) -> Judgement:
    """Return what one or two replies to the same question say; `second` is None where it is asked once."""
    replies = [plain] if second is None else [plain, second]
    scores = [reply for reply in replies if not isinstance(reply, InvalidReply)]
    invalid = len(replies) - len(scores)
    if invalid:
        return Judgement(None, invalid=invalid)
    score = sum(scores) / len(scores)
    if len(scores) == 1:
        return Judgement(score)
    yes = [one >= threshold for one in scores]
    return Judgement(score, change=float(abs(scores[0] - scores[1])), flipped=yes[0] != yes[1])


_NO_JSON = object()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return _NO_JSON


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _refuse(name: str) -> Any:
    raise ValueError(name)
