"""Families over `mixed` tokens: MER, and the error rates of one script alone.

A mixed token is a code point in the scripts that a suite scores by character, and a word elsewhere, so that
Chinese with English words in it is scored fairly on both (see `misheard.text.tokenisers`). The error rate of
one script keeps its tokens alone, on both sides, and aligns those: CER-zh is that of Hani, WER-en that of
Latn in such speech, over the items whose reference has the script. Each has both denominators, as every error
rate here.
"""

from collections.abc import Callable, Sequence

from misheard.metrics.error_rates import Encoder, ErrorRates
from misheard.metrics.token_kinds import token_script
from misheard.text.interning import TokenPairs, token_pairs
from misheard.text.scripts import expanded_scripts
from misheard.text.tokenisers import mixed_tokeniser


def mer(profile: str, char_scripts: Sequence[str]) -> ErrorRates:
    """Return the family of mixed error rates, with those scripts by character."""
    return ErrorRates("mer", "mixed token", _encoder(mixed_tokeniser(char_scripts).split), profile)


def one_script(profile: str, script: str, char_scripts: Sequence[str]) -> ErrorRates:
    """Return the family of one script's error rates: `cer_hani` by character, or `wer_latn` by word."""
    tokeniser = mixed_tokeniser(char_scripts)
    kind, unit = ("cer", "character") if script in expanded_scripts(char_scripts) else ("wer", "word")
    name = f"{kind}_{script.lower()}"

    def split(text: str) -> list[str]:
        return script_tokens(tokeniser.split(text), script)

    return ErrorRates(name, f"{script} {unit}", _encoder(split), profile, only_with_units=True)


def script_tokens(tokens: Sequence[str], script: str) -> list[str]:
    """Return the tokens of one script, in order."""
    return [token for token in tokens if token_script(token) == script]


def _encoder(split: Callable[[str], list[str]]) -> Encoder:
    def encode(references: Sequence[str], hypotheses: Sequence[str]) -> TokenPairs:
        return token_pairs([split(text) for text in references], [split(text) for text in hypotheses])

    return encode
