"""Arguments as reports may show them."""

import pytest

from misheard.processes.arguments import hashed, without_secrets


@pytest.mark.parametrize(
    ("arguments", "hidden"),
    [
        (["--api-key=canary"], ["--api-key=HASH"]),
        (["--hf-token", "canary", "--max-num-seqs", "8"], ["--hf-token", "HASH", "--max-num-seqs", "8"]),
        (["-token", "canary"], ["-token", "HASH"]),
        (["--apiKey", "canary"], ["--apiKey", "HASH"]),
        (["env", "HEAR_API_KEY=canary", "hear"], ["env", "HEAR_API_KEY=HASH", "hear"]),
        (["-H", "Authorization: Basic canary"], ["-H", "HASH"]),
        (["-H", "x: BEARER canary"], ["-H", "HASH"]),
        (["--secret", "--verbose"], ["--secret", "--verbose"]),
        (["--key={model}/id", "--key", "{wav}"], ["--key={model}/id", "--key", "{wav}"]),
        (
            ["--tokens={model}/tokens.txt", "--max-tokens", "8"],
            ["--tokens={model}/tokens.txt", "--max-tokens", "8"],
        ),
        (["--keywords", "monkey", "key", "x"], ["--keywords", "monkey", "key", "x"]),
    ],
)
def test_what_sounds_like_a_secret_is_hashed(arguments: list[str], hidden: list[str]) -> None:
    values = {"canary", "Authorization: Basic canary", "x: BEARER canary"}
    hashes = {hashed(value) for value in values}
    shown = without_secrets(arguments)
    for one in hashes:
        shown = [argument.replace(one, "HASH") for argument in shown]
    assert shown == hidden


def test_secrets_that_differ_look_different_and_the_same() -> None:
    first, again, other = (without_secrets(["--key", value]) for value in ("a", "a", "b"))
    assert first == again != other
