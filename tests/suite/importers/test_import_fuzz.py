"""Whatever a source holds, an import ends with a suite that counts every row, or with an error."""

import contextlib
import shutil
from pathlib import Path

import pytest
import tool_samples
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from importing_helpers import run_import

from misheard.errors import MisheardError
from misheard.suite.importers.formats import guess_format
from misheard.suite.manifest import load_suite

SAMPLES = Path(__file__).parent / "samples"
DELIMITED = 'id,path,text,offset,duration,lang\na,wav/rec0.wav,hi,0.1,0.2,en\nb,wav/rec1.wav,"x ""y""",,,en\n'
NEMO = '{"audio_filepath": "wav/rec0.wav", "text": "a b", "duration": 0.25, "offset": 0.125}\n'
SOURCES = {
    "csv": ("m.csv", DELIMITED.encode()),
    "tsv": ("m.tsv", DELIMITED.replace(",", "\t").encode()),
    "nemo": ("m.json", (NEMO + NEMO.replace("a b", "c")).encode()),
    "json": ("m.json", b'{"items": [{"id": "a", "wav": "wav/rec0.wav", "reference": "x"}]}'),
    "trn": ("m.trn", b"hello (rec0)\nthere (rec1)\n"),
    "lhotse": ("c.jsonl", (SAMPLES / "lhotse" / "trimmed_cuts.jsonl").read_bytes()),
}
TOKENS = [
    b"{", b"]", b'"', b",", b"\t", b"\n", b"\r", b"../", b"/etc/passwd", b"|", b"-1", b"1e999", b"NaN",
    b"null", b"\xff\xfe", b"\xef\xbb\xbf", b"\\ud800", b"9" * 30, b"[" * 50, "\u2028".encode(), b"\0",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz")
    tool_samples.write_recordings(folder)
    return folder


@st.composite
def mutations(draw: st.DrawFn) -> list[tuple[float, int, bytes]]:
    """Places as shares of the length, bytes to remove there, and bytes to put in."""
    ascii_bytes = st.binary(max_size=4).map(lambda raw: bytes(32 + byte % 95 for byte in raw))
    one = st.tuples(st.floats(0, 1), st.integers(0, 4), ascii_bytes | st.sampled_from(TOKENS))
    return draw(st.lists(one, max_size=4))


@pytest.mark.parametrize("format", SOURCES)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=mutations(), skip_broken=st.booleans())
@example(changes=[], skip_broken=False)
def test_mutated_sources(
    folder: Path, format: str, changes: list[tuple[float, int, bytes]], skip_broken: bool
) -> None:
    name, original = SOURCES[format]
    raw = bytearray(original)
    for place, removed, added in changes:
        start = int(place * len(raw))
        raw[start : start + removed] = added
    (folder / name).write_bytes(raw)
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    imported = None
    with contextlib.suppress(MisheardError):
        guess_format(folder / name)
        imported = run_import(folder / name, out, format=format, skip_broken=skip_broken)
    if imported is None:
        assert changes
        assert not out.exists() and not list(folder.glob(".out*"))
        return
    assert len(imported.suite.items) + len(imported.broken) == len(imported.found.rows)
    assert load_suite(out).items == imported.suite.items
