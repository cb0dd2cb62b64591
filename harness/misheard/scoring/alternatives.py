"""Token lists of references that hold several accepted spellings (see `misheard.text.alternatives`)."""

from collections.abc import Sequence

from misheard.scoring.texts import TextSettings


def matched_references(
    references: Sequence[str], hypotheses: Sequence[Sequence[str]], settings: TextSettings
) -> list[Sequence[str]]:
    """Return, per reference, the tokens of the path through its slots that is closest to its hypothesis.

    Raises InputError, naming the reference by its number from 1, for braces that do not pair up.
    """
    from misheard.metrics.alternatives import matched_reference
    from misheard.text.alternatives import parse_alternatives

    split = settings.split()

    def tokens(text: str) -> Sequence[str]:
        (normal,) = settings.normalised([text])
        return split(normal)

    return [
        matched_reference(
            parse_alternatives(reference, item=f"reference {number}", split=tokens),
            hypothesis,
            settings.costs,
        )
        for number, (reference, hypothesis) in enumerate(zip(references, hypotheses, strict=True), 1)
    ]
