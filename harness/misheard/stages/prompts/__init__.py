"""Prompts as versioned files: a `user` template and, where wanted, `system` and few-shot `examples`.

    system: Answer in one sentence.
    user: "{transcript}"
    examples:
      hi:
        - transcript: आसमान का रंग क्या है?
          reply: आसमान नीला है।

`{name}` in `system` and `user` is where a value goes. An example gives the values of its own user message; a
value that only `system` holds is the request's, and one that the example leaves out is empty.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from misheard.canonical import sha256_json
from misheard.errors import InputError
from misheard.language_models.protocol import Message
from misheard.strict_yaml import load_strict, load_strict_file
from misheard.text.languages import whisper_code

_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_LANGUAGE = re.compile(r"[a-z]{2,8}")
_MAX_BYTES = 256 * 1024
_MOST_EXAMPLES = 32
_REPLY = "reply"


@dataclass(frozen=True, slots=True)
class Example:
    """One few-shot turn: the values of the user message, by placeholder, and the reply that it should get."""

    values: Mapping[str, str]
    reply: str


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """A prompt of a stage. `examples` are few-shot turns by language code, such as `ml` or `zh`."""

    name: str
    system: str | None
    user: str
    examples: Mapping[str, tuple[Example, ...]] = field(default_factory=dict)

    def messages(self, values: Mapping[str, str], language: str | None = None) -> tuple[Message, ...]:
        """Return the chat for one set of values: system, the language's examples, user.

        Values are put in as they are, in one pass; braces in them mean nothing, and a placeholder without a
        value stays. `language` is a BCP-47 tag: `ml-IN` takes the examples of `ml`, and a language without
        examples gets none, never another language's.
        """
        turns = [] if self.system is None else [Message("system", _filled(self.system, values))]
        empty = dict.fromkeys(values, "")
        for example in self.examples.get(whisper_code(language) or "", ()):
            turns.append(Message("user", _filled(self.user, {**empty, **example.values})))
            turns.append(Message("assistant", example.reply))
        return (*turns, Message("user", _filled(self.user, values)))

    def fingerprint(self) -> dict[str, Any]:
        """Return the prompt's name and the hash of its templates and examples."""
        content: list[Any] = [self.system, self.user]
        if self.examples:
            content.append(
                {code: [[dict(e.values), e.reply] for e in listed] for code, listed in self.examples.items()}
            )
        return {"name": self.name, "sha256": sha256_json(content)}


def load_prompt(
    name: str, option: str = "respond.prompt", needs: Sequence[str] = ("transcript",)
) -> PromptTemplate:
    """Return a prompt that ships with misheard (`respond-v1`) or one from a `.yaml` file.

    `option` is named in errors; `needs` are the placeholders that the prompt must hold. Raises InputError
    where there is no such prompt or the file is not a prompt.
    """
    if name.endswith((".yaml", ".yml")):
        return _parse(Path(name).stem, _read(name, option), f"{option}: {name}", needs)
    shipped = {
        entry.name.removesuffix(".yaml"): entry
        for entry in resources.files(__name__).iterdir()
        if entry.name.endswith(".yaml")
    }
    if name not in shipped:
        stage = option.partition(".")[0]
        known = ", ".join(sorted(key for key in shipped if key.startswith(f"{stage}-")))
        raise InputError(f"{option}: no prompt is called {name!r}; use {known or 'another'} or a .yaml file")
    return _parse(name, load_strict(shipped[name].read_text("utf-8")), f"{option}: {name}", needs)


def _read(name: str, option: str) -> Any:
    try:
        is_file = Path(name).is_file()
    except OSError:
        is_file = False
    if not is_file:
        raise InputError(f"{option}: {name} does not exist")
    try:
        return load_strict_file(Path(name), _MAX_BYTES)
    except InputError as error:
        raise InputError(f"{option}: {error}") from error


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Put the values in, in one pass: what a value holds is never taken for a placeholder."""
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)


def _parse(name: str, data: Any, where: str, needs: Sequence[str]) -> PromptTemplate:
    if not isinstance(data, dict) or not set(data) <= {"system", "user", "examples"}:
        raise InputError(f"{where} must be a mapping of user and, if wanted, system and examples")
    system, user = data.get("system"), data.get("user")
    if system is not None and not isinstance(system, str):
        raise InputError(f"{where}: system must be a text")
    if not isinstance(user, str):
        raise InputError(f"{where}: user must be a text")
    held = set(_PLACEHOLDER.findall(user))
    missing = set(needs) - held - set(_PLACEHOLDER.findall(system or ""))
    if not held or missing:
        texts = ", ".join(f"{{{need}}}" for need in needs if need in missing or not held)
        raise InputError(f"{where}: user must be a text that contains {texts}")
    return PromptTemplate(name, system, user, _examples(data.get("examples"), where, held, needs))


def _examples(data: Any, where: str, held: set[str], needs: Sequence[str]) -> dict[str, tuple[Example, ...]]:
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise InputError(f"{where}: examples must be a mapping from a language to a list")
    for code, listed in data.items():
        _check_language(code, where)
        if not isinstance(listed, list) or not 1 <= len(listed) <= _MOST_EXAMPLES:
            raise InputError(f"{where}: examples.{code} must be a list of 1 to {_MOST_EXAMPLES} examples")
    given = [need for need in needs if need in held]
    return {
        code: tuple(
            _example(entry, f"{where}: examples.{code}[{number}]", held, given)
            for number, entry in enumerate(listed)
        )
        for code, listed in data.items()
    }


def _check_language(code: Any, where: str) -> None:
    """Raise InputError for what is no language code; YAML reads an unquoted `no` as a truth value."""
    if not isinstance(code, str):
        raise InputError(f"{where}: a language under examples is not text; put it into quotes")
    if not _LANGUAGE.fullmatch(code) or whisper_code(code) != code:
        advice = "write it as a code such as en, or ta for ta-IN"
        raise InputError(f"{where}: {code!r} under examples is no language code; {advice}")


def _example(entry: Any, where: str, held: set[str], given: Sequence[str]) -> Example:
    if not isinstance(entry, dict) or not all(isinstance(value, str) for value in entry.values()):
        raise InputError(f"{where} must be a mapping of texts; put numbers and yes or no into quotes")
    if not entry.get(_REPLY):
        raise InputError(f"{where}: {_REPLY} is missing")
    values = {name: value for name, value in entry.items() if name != _REPLY}
    if unknown := sorted(set(map(str, values)) - held):
        raise InputError(f"{where}: {unknown[0]!r} is no placeholder of user")
    if missing := [name for name in given if name not in values]:
        raise InputError(f"{where}: {missing[0]} is missing")
    return Example(values, entry[_REPLY])
