from pathlib import Path

import pytest

from misheard.telemetry.rapl import Rapl
from misheard.telemetry.readings import Reason


def domain(root: Path, folder: str, name: str, energy: int, top: int = 262_143_328_850) -> Path:
    place = root / folder
    place.mkdir(parents=True)
    (place / "name").write_text(f"{name}\n")
    (place / "energy_uj").write_text(f"{energy}\n")
    (place / "max_energy_range_uj").write_text(f"{top}\n")
    return place / "energy_uj"


def test_packages_alone_are_summed(tmp_path: Path) -> None:
    first = domain(tmp_path, "intel-rapl:0", "package-0", 5_000_000)
    second = domain(tmp_path, "intel-rapl:1", "package-1", 7_000_000)
    inner = domain(tmp_path, "intel-rapl:0:0", "core", 0)
    board = domain(tmp_path, "intel-rapl:2", "psys", 0)
    rapl = Rapl(tmp_path)
    assert rapl.read().value == 0.0
    for counter, energy in ((first, 6_500_000), (second, 7_250_000), (inner, 10**9), (board, 10**9)):
        counter.write_text(str(energy))
    assert rapl.read().value == pytest.approx(1.75)


def test_counter_that_begins_again_is_followed(tmp_path: Path) -> None:
    counter = domain(tmp_path, "intel-rapl:0", "package-0", 9_000_000, top=10_000_000)
    rapl = Rapl(tmp_path)
    for energy, joules in ((9_500_000, 0.5), (200_000, 1.2), (100_000, 11.1)):
        counter.write_text(str(energy))
        assert rapl.read().value == pytest.approx(joules)


def test_machine_without_counters(tmp_path: Path) -> None:
    assert Rapl(tmp_path / "none").read().reason is Reason.NO_RAPL
    domain(tmp_path, "intel-rapl:0", "psys", 5)
    assert Rapl(tmp_path).read().reason is Reason.NO_RAPL


def test_counter_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counter = domain(tmp_path, "intel-rapl:0", "package-0", 5)
    read = Path.read_text

    def refuse(path: Path, *args: object, **options: object) -> str:
        if path == counter:
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    rapl = Rapl(tmp_path)
    monkeypatch.setattr(Path, "read_text", refuse)
    assert rapl.read().document() == {"value": None, "reason": "no_permission"}
    assert Rapl(tmp_path).read().reason is Reason.NO_PERMISSION
    monkeypatch.undo()
    # what was missed meanwhile stays missed
    assert rapl.read().value is None


@pytest.mark.parametrize("content", ["", "many\n"])
def test_counter_that_is_no_number(tmp_path: Path, content: str) -> None:
    domain(tmp_path, "intel-rapl:0", "package-0", 5).write_text(content)
    assert Rapl(tmp_path).read().reason is Reason.READ_ERROR


def test_counter_that_goes_away(tmp_path: Path) -> None:
    counter = domain(tmp_path, "intel-rapl:0", "package-0", 5)
    rapl = Rapl(tmp_path)
    counter.unlink()
    assert rapl.read().document() == {"value": None, "reason": "read_error", "detail": "FileNotFoundError"}
