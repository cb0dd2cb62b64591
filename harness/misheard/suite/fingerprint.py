"""Fingerprints of items and suites: what was said, what is true, and nothing about where the files lie."""

from collections.abc import Sequence

from misheard.canonical import sha256_json
from misheard.suite.items import Item, Suite


def item_sha256(item: Item, audio_sha256: str | None) -> str:
    """Return the fingerprint of an item: its truth and its decoded audio (`misheard.audio.decode`).

    `audio_sha256` is None where the recording cannot be decoded; such an item equals only others like it.
    """
    return sha256_json({"item": item.truth(), "audio": audio_sha256})


def suite_sha256(suite: Suite, item_hashes: Sequence[str]) -> str:
    """Return the fingerprint of a suite: its header and its items' fingerprints, in order.

    Raises ValueError where there is not one hash per item.
    """
    if len(item_hashes) != len(suite.items):
        raise ValueError(f"{len(suite.items)} items, but {len(item_hashes)} hashes")
    return sha256_json({"suite": suite.header(), "items": list(item_hashes)})
