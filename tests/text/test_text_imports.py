"""A score of a few texts must not wait for libraries that it does not use."""

import subprocess
import sys

import pytest

MODULES = "regex, text_to_num, numpy"


@pytest.mark.parametrize(
    "code",
    [
        "from misheard.text.profiles import normalise; normalise('It’s five', 'plain', 'en')",
        "from misheard.text.tokenisers import graphemes, mixed; graphemes('a b'), mixed('a b')",
        "from misheard.text.scripts import foreign_characters; foreign_characters('ab', ['Latn'])",
    ],
)
def test_heavier_libraries_are_loaded_where_they_are_used(code):
    found = f"{{name for name in {MODULES.split(', ')!r} if name in sys.modules}}"
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; {code}; print({found} or 'none')"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "none\n"
