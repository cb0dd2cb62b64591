"""Command lines with placeholders: checked when a config is read, filled in clip by clip.

An argument stays one argument whatever is filled in; no shell reads it. `{{` and `}}` are literal braces.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

PLACEHOLDERS = ("wav", "model", "language", "device")

_MOST_ARGUMENTS = 256
_LONGEST_ARGUMENT = 8_192
_PART = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_SHELLS = frozenset({"sh", "ash", "bash", "csh", "dash", "fish", "ksh", "mksh", "tcsh", "zsh"})
_SCRIPT_OPTION = re.compile(r"-[A-Za-z]*c[A-Za-z]*")
_INTERPRETER = re.compile(r"(python|perl|ruby|node|php|lua|julia|Rscript)[0-9.]*")
_CODE_OPTION = re.compile(r"-[A-Za-z]*[ceEr]|--eval")


def placeholders(argument: str) -> Iterator[str]:
    """Yield the placeholders of an argument. Raises ValueError for an unknown one or a stray brace."""
    for part in _PART.finditer(argument):
        if part[0] in ("{{", "}}"):
            continue
        if part[1] is None:
            raise ValueError("a brace stands alone; write {{ and }} for literal braces")
        if part[1] not in PLACEHOLDERS:
            known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise ValueError(
                f"{part[0]} is no placeholder; there are {known}; literal braces are {{{{ and }}}}"
            )
        yield part[1]


def fill(argument: str, values: Mapping[str, str]) -> str:
    """Return an argument with its placeholders replaced; what a value holds is not looked at again."""

    def value(part: re.Match[str]) -> str:
        return {"{{": "{", "}}": "}"}.get(part[0]) or values[part[1]]

    return _PART.sub(value, argument)


def check_template(arguments: Sequence[str]) -> set[str]:
    """Return the placeholders of a command line. Raises ValueError for one that cannot be used safely."""
    if not arguments or not arguments[0]:
        raise ValueError("must begin with a program")
    if len(arguments) > _MOST_ARGUMENTS or any(len(argument) > _LONGEST_ARGUMENT for argument in arguments):
        raise ValueError(
            f"has more than {_MOST_ARGUMENTS} arguments, or one over {_LONGEST_ARGUMENT} characters"
        )
    if any("\0" in argument for argument in arguments):
        raise ValueError("holds a NUL character")
    found = [list(placeholders(argument)) for argument in arguments]
    if found[0]:
        raise ValueError("the program itself must hold no placeholder")
    _check_shell(arguments, found)
    _check_code(arguments, found)
    return {name for names in found for name in names}


def _check_shell(arguments: Sequence[str], found: Sequence[Sequence[str]]) -> None:
    """Refuse placeholders inside a shell's script: a file name would be run as commands."""
    if not any(PurePath(argument).name in _SHELLS for argument in arguments):
        return
    for before, argument, names in zip(("", *arguments), arguments, found, strict=False):
        whole = len(names) == 1 and argument == f"{{{names[0]}}}"
        if names and (not whole or _SCRIPT_OPTION.fullmatch(before)):
            raise ValueError(
                "a placeholder inside a shell's script would be run as commands; give it as an argument "
                'of its own: [bash, -c, \'program "$1"\', bash, "{wav}"]'
            )


def _check_code(arguments: Sequence[str], found: Sequence[Sequence[str]]) -> None:
    """Refuse placeholders inside code on an interpreter's command line, for the same reason."""
    for start, argument in enumerate(arguments):
        if not _INTERPRETER.fullmatch(PurePath(argument).name):
            continue
        options = itertools.takewhile(lambda option: option.startswith("-"), arguments[start + 1 :])
        for place, option in enumerate(options, start + 2):
            if _CODE_OPTION.fullmatch(option) and place < len(arguments) and found[place]:
                raise ValueError(
                    "a placeholder inside code would be run; give it as an argument of its own, "
                    'or put the code into a file: [python3, hear.py, "{wav}"]'
                )
