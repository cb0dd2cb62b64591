"""The advice on how an extra is installed."""

from pathlib import Path

import pytest

from misheard import errors
from misheard.errors import install_advice, is_install_advice

PACKAGE, CHECKOUT = "pip install 'misheard[ray]'", "pip install '.[ray]'"


@pytest.mark.parametrize(
    ("pyproject", "order"),
    [
        (b'[project]\nname = "misheard"\n', (CHECKOUT, PACKAGE)),
        (b'[project]\nname = "other"\ndependencies = ["misheard"]\n', (PACKAGE, CHECKOUT)),
        (b"\xff", (PACKAGE, CHECKOUT)),
        (None, (PACKAGE, CHECKOUT)),
    ],
)
def test_the_advice_begins_with_what_serves_this_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pyproject: bytes | None, order: tuple[str, str]
) -> None:
    if pyproject is not None:
        (tmp_path / "pyproject.toml").write_bytes(pyproject)
    monkeypatch.setattr(errors, "_CHECKOUT", tmp_path)
    advice = install_advice("ray")
    assert advice.startswith(order[0]) and order[1] in advice
    assert is_install_advice(advice)
    assert not is_install_advice(f"{advice}, or else") and not is_install_advice("ulimit -n 4096")
