"""Writing suites in the canonical form, into folders that appear whole or not at all."""

import errno
import fcntl
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from misheard.errors import InputError
from misheard.suite.items import Item, Suite

_MAX_NAME = 80


def suite_yaml(suite: Suite) -> str:
    """Return the text of `suite.yaml`: everything of the suite but its items, without defaults."""
    record: dict[str, Any] = {"name": suite.name, "version": suite.version}
    optional = {
        "conditions": {axis: list(values) for axis, values in suite.axes.items()},
        "gate_axes": list(suite.gate_axes),
        "primary": dict(suite.primary_metrics),
        "abstentions": {language: list(phrases) for language, phrases in suite.abstentions.items()},
    }
    record |= {name: value for name, value in optional.items() if value}
    if suite.char_scripts is not None:
        record["char_scripts"] = list(suite.char_scripts)
    if suite.glossary:
        record["glossary"] = {language: list(terms) for language, terms in suite.glossary.items()}
    return yaml.dump(record, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=100)


def items_jsonl(items: Iterable[Item]) -> str:
    """Return the text of `items.jsonl`, every item with all its fields that are not empty."""
    return "".join(json.dumps(_record(item), ensure_ascii=False) + "\n" for item in items)


def name_for(destination: Path, name: str | None) -> str:
    """Return the name of a suite to be written: the one given, else its folder's. Raises InputError."""
    chosen = destination.resolve().name if name is None else name
    if not chosen.strip() or len(chosen) > _MAX_NAME or not chosen.isprintable():
        raise InputError(f"--name must be one line of 1 to {_MAX_NAME} characters")
    return chosen


@contextmanager
def new_folder(destination: Path) -> Iterator[Path]:
    """Give a folder that becomes `destination` at the end, and vanishes where that is not reached.

    What a process that was killed left behind vanishes when the next one makes the same folder. Raises
    InputError where the destination is something else than an empty folder.
    """
    if destination.is_symlink() or destination.exists():
        if destination.is_symlink() or not destination.is_dir():
            raise InputError(f"{destination}: exists and is no folder; name a new one")
        if any(destination.iterdir()):
            raise InputError(f"{destination}: the folder is not empty; name a new one")
    whole = destination.resolve()
    whole.parent.mkdir(parents=True, exist_ok=True)
    prefix = f".{whole.name[:100]}."
    _remove_abandoned(whole.parent, prefix)
    temporary, held = _held_folder(whole.parent, prefix)
    try:
        yield temporary
        _move(temporary, whole)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    finally:
        os.close(held)


def _move(temporary: Path, whole: Path) -> None:
    try:
        temporary.replace(whole)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise InputError(f"{whole}: exists by now, made by another process; name a new one") from error
        raise


def _held_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    """Return a new folder and a descriptor that holds it: nobody takes it for one that was left behind."""
    while True:
        folder = parent / f"{prefix}{secrets.token_hex(4)}"
        folder.mkdir()
        try:
            held = _open_folder(folder)
        except FileNotFoundError:
            continue
        try:
            mine = _hold(held, folder)
        except OSError:
            # A file system without locks, where nobody can hold what was left behind, and so removes nothing.
            mine = True
        if mine:
            return folder, held
        os.close(held)


def _remove_abandoned(parent: Path, prefix: str) -> None:
    with suppress(OSError):
        names = [path for path in parent.iterdir() if path.name.startswith(prefix)]
        for folder in names:
            if re.fullmatch("[0-9a-f]{8}", folder.name.removeprefix(prefix)):
                _remove_if_abandoned(folder)


def _remove_if_abandoned(folder: Path) -> None:
    with suppress(OSError):
        held = _open_folder(folder)
        try:
            if _hold(held, folder):
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(held)


def _open_folder(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _hold(held: int, folder: Path) -> bool:
    """Lock an open folder; False where another process has it or has removed it. Raises OSError."""
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(held), folder.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


class _PlainDumper(yaml.SafeDumper):
    """Writes lists that are the same object twice, because suites hold no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _record(item: Item) -> dict[str, Any]:
    truth = item.truth()
    required = {"id": truth.pop("id"), "audio": item.audio, "reference": truth.pop("reference")}
    return required | {name: value for name, value in truth.items() if value not in (None, [], {})}
