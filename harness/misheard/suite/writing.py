"""Writing suites in the canonical form, into folders that appear whole or not at all."""

import json
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from misheard.errors import InputError
from misheard.suite.items import Item, Suite


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
    return yaml.dump(record, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=100)


def items_jsonl(items: Iterable[Item]) -> str:
    """Return the text of `items.jsonl`, every item with all its fields that are not empty."""
    return "".join(json.dumps(_record(item), ensure_ascii=False) + "\n" for item in items)


@contextmanager
def new_folder(destination: Path) -> Iterator[Path]:
    """Give a folder that becomes `destination` at the end, and vanishes where that is not reached.

    Raises InputError where the destination is something else than an empty folder.
    """
    if destination.is_symlink() or destination.exists():
        if destination.is_symlink() or not destination.is_dir():
            raise InputError(f"{destination}: exists and is no folder; name a new one")
        if any(destination.iterdir()):
            raise InputError(f"{destination}: the folder is not empty; name a new one")
    whole = destination.resolve()
    whole.parent.mkdir(parents=True, exist_ok=True)
    temporary = whole.with_name(f".{whole.name[:100]}.{secrets.token_hex(4)}")
    temporary.mkdir()
    try:
        yield temporary
        temporary.replace(whole)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


class _PlainDumper(yaml.SafeDumper):
    """Writes lists that are the same object twice, because suites hold no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _record(item: Item) -> dict[str, Any]:
    truth = item.truth()
    required = {"id": truth.pop("id"), "audio": item.audio, "reference": truth.pop("reference")}
    return required | {name: value for name, value in truth.items() if value not in (None, [], {})}
