"""Language tags."""


def primary_subtag(tag: str | None) -> str | None:
    """Return the language of a BCP-47 tag, in lower case: `en` of `en-IN`; None where there is no tag."""
    return tag.replace("_", "-").split("-")[0].lower() if tag else None
