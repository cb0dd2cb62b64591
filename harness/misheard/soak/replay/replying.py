"""What a language model makes of turns as they come: corrections and answers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from misheard.language_models.protocol import ChatRequest
from misheard.soak.events import EventName
from misheard.soak.replay.asking import Inquirer
from misheard.soak.replay.feeding import Emit
from misheard.soak.replay.hearing import Heard
from misheard.stages.correct import correct_values, read_correction
from misheard.stages.prompted import Prompted
from misheard.text.interning import token_pairs
from misheard.text.languages import primary_subtag
from misheard_kernels import edit_counts


class Correction:
    """Has transcripts cleaned up; one that fails leaves its transcript as it was."""

    def __init__(
        self, inquirer: Inquirer[ChatRequest], prompted: Prompted, glossary: Mapping[str, Sequence[str]]
    ) -> None:
        self.most = inquirer.most
        self._inquirer, self._prompted, self._glossary = inquirer, prompted, glossary
        # compiled code is loaded before the first turn comes, which is not to wait for it
        words_changed("one", "another")

    def work(self, turns: Sequence[Heard], emit: Emit) -> Iterator[Heard]:
        """Tell what became of every transcript, in order; yield the turns with what goes on."""
        for turn, reply in zip(turns, self._inquirer.ask([*map(self._request, turns)]), strict=True):
            completion = reply.completion
            correction = read_correction(
                turn.text, completion.text, completion.failure, completion.finish_reason
            )
            about = {"turn": turn.turn, "seconds": reply.seconds}
            if correction.problem is None:
                emit(EventName.CORRECTED, **about, words=len(correction.text.split()),
                     words_changed=words_changed(turn.text, correction.text))  # fmt: skip
            else:
                emit(EventName.CORRECTION_FAILED, **about)
            yield replace(turn, text=correction.text)

    def _request(self, turn: Heard) -> ChatRequest:
        values = correct_values(turn.text, (), _terms(self._glossary, turn.language))
        return self._prompted.request(values, turn.language, turn.turn)


class Answering:
    """Has turns answered; nothing comes after it."""

    def __init__(self, inquirer: Inquirer[ChatRequest], prompted: Prompted) -> None:
        self.most = inquirer.most
        self._inquirer, self._prompted = inquirer, prompted

    def work(self, turns: Sequence[Heard], emit: Emit) -> Iterator[Heard]:
        """Tell what became of every answer, in order; yield nothing."""
        for turn, reply in zip(turns, self._inquirer.ask([*map(self._request, turns)]), strict=True):
            about = {"turn": turn.turn, "seconds": reply.seconds}
            text = reply.completion.text
            if text is None:
                emit(EventName.ANSWER_FAILED, **about)
            else:
                emit(EventName.ANSWER_FINISHED, **about, words=len(text.split()))
        yield from ()

    def _request(self, turn: Heard) -> ChatRequest:
        return self._prompted.request({"transcript": turn.text}, turn.language, turn.turn)


def words_changed(before: str, after: str) -> int:
    """Return how many words were replaced, left out or put in, at least."""
    pairs = token_pairs([before.split()], [after.split()])
    counts = edit_counts(pairs.ref_flat, pairs.ref_offsets, pairs.hyp_flat, pairs.hyp_offsets)
    return int(counts[0, :3].sum())


def _terms(glossary: Mapping[str, Sequence[str]], tag: str | None) -> Sequence[str]:
    """Return the terms of a language: of its tag, else of the tag's language."""
    return glossary.get(tag or "") or glossary.get(primary_subtag(tag) or "") or ()
