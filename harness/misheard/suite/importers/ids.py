"""Ids of a suite from ids of any form: letters, digits, `_` and `-`, unique, the same on every machine."""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence

_MAX_ID = 80
_DIGEST_LENGTHS = (8, 16, 32, 64)
_OTHERS = re.compile(r"[^A-Za-z0-9_-]+")


def suite_ids(names: Sequence[str]) -> list[str]:
    """Return an id per name; names are unique.

    A name that is an id keeps it. Of others, what is no letter, digit, `_` or `-` becomes `_` and accents are
    dropped; where that is too long, or is what several names become, part of the name's sha256 is added.
    The order of the names decides nothing.
    """
    plain = [_plain(name) for name in names]
    shared = Counter(plain)
    taken = set(plain)
    out = []
    for name, short in zip(names, plain, strict=True):
        keeps = len(short) <= _MAX_ID and (name == short or shared[short] == 1)
        out.append(short if keeps else _with_digest(name, short, taken))
    return out


def _plain(name: str) -> str:
    if len(name) <= _MAX_ID and not _OTHERS.search(name) and name:
        return name
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return _OTHERS.sub("_", ascii_name).strip("_") or "item"


def _with_digest(name: str, short: str, taken: Collection[str]) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    for length in _DIGEST_LENGTHS:
        candidate = f"{short[: _MAX_ID - 1 - length]}-{digest[:length]}"
        if candidate not in taken:
            return candidate
    raise AssertionError(f"two names with one sha256: {name!a}")


def distinct_names(names: Sequence[str], named: Sequence[bool]) -> list[str]:
    """Return the names with a number behind those that are not ids and repeat: `a`, `a-2`, `a-3`."""
    taken = {name for name, is_id in zip(names, named, strict=True) if is_id}
    seen: Counter[str] = Counter()
    out = []
    for name, is_id in zip(names, named, strict=True):
        candidate = name
        while not is_id and candidate in taken:
            seen[name] += 1
            candidate = f"{name}-{seen[name] + 1}"
        taken.add(candidate)
        out.append(candidate)
    return out
