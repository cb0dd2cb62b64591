"""Whatever a file holds, decoding ends with samples or a typed failure, and never loses samples silently."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from misheard.audio.decode import decode, probe
from misheard.failures import ItemFailedError

WAVE = (0.2 * np.random.default_rng(0).standard_normal(4_000)).astype(np.float32)
FORMATS = {
    "wav": {},
    "rf64": {"format": "RF64", "subtype": "PCM_16"},
    "aiff": {},
    "au": {},
    "sph": {"format": "NIST", "subtype": "PCM_16"},
    "flac": {},
    "ogg": {},
    "mp3": {},
}


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("originals")
    out = {}
    for name, options in FORMATS.items():
        soundfile.write(folder / f"a.{name}", WAVE, 16_000, **options)
        out[name] = (folder / f"a.{name}").read_bytes()
    return out


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_fail_or_decode(
    tmp_path: Path, originals: dict[str, bytes], name: str, data: st.DataObject
) -> None:
    raw = bytearray(originals[name])
    for _ in range(data.draw(st.integers(1, 3))):
        # Most damage goes into the headers, where it does most.
        start = data.draw(st.integers(0, 100) | st.integers(0, len(raw)))
        raw[start : start + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    path = tmp_path / "a"
    path.write_bytes(raw)
    for action in (decode, probe):
        try:
            action(path)
        except ItemFailedError as error:
            if not error.detail:
                pytest.fail("a failure without a reason")


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_cut_at_any_byte_is_noticed(
    tmp_path: Path, originals: dict[str, bytes], name: str, data: st.DataObject
) -> None:
    raw = originals[name]
    path = tmp_path / "a"
    path.write_bytes(raw[: data.draw(st.integers(0, len(raw) - 1))])
    with pytest.raises(ItemFailedError):
        decode(path)
