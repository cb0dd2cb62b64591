import ast
import importlib.util
import os
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from misheard.telemetry.devices import Gpu, MigSlice, select

UUIDS = ("GPU-8932f937-d72c", "GPU-8932aaaa-0000", "GPU-11111111-2222")
SAME = tuple(Gpu(index, uuid, "H100") for index, uuid in enumerate(UUIDS))
MIXED = (SAME[0], Gpu(1, UUIDS[1], "T4"), SAME[2])
SLICES = (MigSlice("MIG-aa11", 1, 0), MigSlice("MIG-aa22", 2, 0))
SLICED = (SAME[0], Gpu(1, UUIDS[1], "H100", SLICES), Gpu(2, UUIDS[2], "H100", ()))


def uuids(gpus: tuple[Gpu, ...], visible: str | None, order: str | None = None) -> list[str]:
    return [device.uuid for device in select(gpus, visible, order).devices]


@pytest.mark.parametrize(
    ("visible", "places"),
    [
        (None, [0, 1, 2]),
        ("", []),
        ("-1", []),
        ("NoDevFiles", []),
        ("0", [0]),
        ("2,1", [2, 1]),
        (" 2 , 0", [2, 0]),
        ("0,2,-1,1", [0, 2]),
        ("0,3,1", [0]),
        ("3", []),
        ("1gpu2", [1]),
        ("1,1", []),
        ("0,GPU-1111", [0]),
        ("GPU-8932f937-d72c", [0]),
        ("GPU-11,GPU-8932f", [2, 0]),
        ("GPU-8932", []),
        ("GPU-11,GPU-8932,GPU-8932f", [2]),
        ("GPU-11,0", [2]),
        ("GPU-11,GPU-1111", []),
        ("GPU-ffff", []),
        ("gpu-1111", []),
        ("8932f937", []),
        ("MIG-aa11", []),
    ],
)
def test_whole_devices(visible: str | None, places: list[int]) -> None:
    assert uuids(SAME, visible) == [UUIDS[place] for place in places]


@pytest.mark.parametrize(
    ("visible", "found"),
    [
        (None, ["MIG-aa11"]),
        ("1", ["MIG-aa11"]),
        ("0", [UUIDS[0]]),
        ("0,1", ["MIG-aa11"]),
        ("2", []),
        (UUIDS[1], ["MIG-aa11"]),
        ("MIG-aa22", ["MIG-aa22"]),
        ("MIG-aa2", ["MIG-aa22"]),
        ("MIG-aa", []),
        ("MIG-aa22,MIG-aa11", ["MIG-aa22"]),
        (f"MIG-{UUIDS[1]}/2/0", ["MIG-aa22"]),
        (f"MIG-{UUIDS[1]}/3/0", []),
        (f"MIG-{UUIDS[0]}/1/0", []),
        ("MIG-aa22,0", ["MIG-aa22"]),
    ],
)
def test_slices(visible: str | None, found: list[str]) -> None:
    assert uuids(SLICED, visible) == found


@pytest.mark.parametrize(
    ("gpus", "visible", "order", "is_certain"),
    [
        (SAME, "1", None, True),
        (MIXED, "1", None, False),
        (MIXED, "1", "FASTEST_FIRST", False),
        (MIXED, "1", "PCI_BUS_ID", True),
        (MIXED, "2,0,1", None, True),
        (MIXED, None, None, True),
        (MIXED, "", None, True),
        (MIXED, "GPU-11", None, True),
    ],
)
def test_numbers_of_different_models_are_not_certain(
    gpus: tuple[Gpu, ...], visible: str | None, order: str | None, is_certain: bool
) -> None:
    assert select(gpus, visible, order).is_certain is is_certain


@pytest.fixture(scope="module")
def torch_cuda() -> SimpleNamespace:
    """What torch reads the variable with: two functions of its source, as importing it takes seconds."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        pytest.skip("needs the extra run")
    source = ast.parse((Path(spec.origin).parent / "cuda" / "__init__.py").read_text())
    wanted = {"_parse_visible_devices", "_transform_uuid_to_ordinals"}
    source.body = [node for node in source.body if isinstance(node, ast.FunctionDef) and node.name in wanted]
    if len(source.body) < len(wanted):
        pytest.skip("this torch reads CUDA_VISIBLE_DEVICES in another place")
    names = {"os": os, "cast": cast, "torch": SimpleNamespace(version=SimpleNamespace(hip=None))}
    exec(compile(source, "torch.cuda", "exec"), names)  # noqa: S102
    return SimpleNamespace(parse=names["_parse_visible_devices"], find=names["_transform_uuid_to_ordinals"])


ENTRIES = st.sampled_from(
    ["0", "1", "2", "3", "-1", " 1", "2 ", "1x", "", "x", "GPU-8932", "GPU-8932f", UUIDS[1], UUIDS[2], "GPU-"]
)


@given(st.lists(ENTRIES, max_size=4).map(",".join))
def test_whole_devices_are_those_of_torch(torch_cuda: SimpleNamespace, visible: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_VISIBLE_DEVICES", visible)
        parsed = torch_cuda.parse()
    if parsed and isinstance(parsed[0], str):
        parsed = torch_cuda.find(parsed, list(UUIDS))
    # torch cuts numbers off at the first that is too large, when it counts
    places = next((parsed[:i] for i, place in enumerate(parsed) if place >= len(SAME)), parsed)
    assert uuids(SAME, visible) == [UUIDS[place] for place in places]
