"""The versions of the libraries that decide outputs."""

import contextlib
import importlib.metadata

_LIBRARIES = (
    "ctranslate2", "numba", "numpy", "openai", "pyarrow", "silero-vad", "soundfile", "tokenizers", "torch",
    "torchaudio", "transformers",
)  # fmt: skip


def library_versions() -> dict[str, str]:
    """Return the installed versions by the name of the package; a missing one is left out."""
    found = {}
    for name in _LIBRARIES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found
