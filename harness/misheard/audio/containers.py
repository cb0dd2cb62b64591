"""What a container says about its own length, where libsndfile keeps quiet about it.

libsndfile shortens the length of a cut WAV, AIFF, AU or SPHERE file to what is there, takes a cut Ogg stream
for a shorter one, reads a WAV that was streamed (data size 0) as empty, and guesses the length of an MP3
without a Xing header. `inspect` finds the first two and mends the last two.
"""

import mmap
import struct
from dataclasses import dataclass
from typing import BinaryIO

from misheard.audio.boxes import cut_asf, cut_matroska, cut_mp4
from misheard.audio.mpeg import count_frames, xing_frame

_MAX_CHUNKS = 10_000
_MAX_HEAD_BYTES = 1 << 20
_OGG_TAIL_BYTES = 1 << 17
"""Two Ogg pages of the largest size."""

_OGG_HEADER_BYTES = 27
_OGG_END_OF_STREAM = 4
_SPHERE_HEADER_BYTES = 1024
_UNKNOWN_SIZES = frozenset({0, 0x7FFF_F000, 0x7FFF_FFFF, 0x8000_0000})
_UNKNOWN_SIZES_FROM = 0xFFFF_FF00
"""Sizes that programs write into a WAV whose length they do not know yet."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What `inspect` found.

    `truncated` says in words why the file is shorter than it declares; None where nothing says so. Where
    `head` is not empty, the decoder must read it followed by the file from `offset` on.
    """

    truncated: str | None = None
    head: bytes = b""
    offset: int = 0


def inspect(file: BinaryIO, size: int) -> Layout:
    """Return what the container of an open file of `size` bytes says about its length."""
    file.seek(0)
    magic = file.read(16)
    layout = Layout()
    if len(magic) < 16:
        return layout
    if magic[:4] in (b"RIFF", b"RF64") and magic[8:12] == b"WAVE":
        layout = _wave(file, size)
    elif magic[:4] == b"FORM":
        layout = _data_layout(_find_chunk(file, b"SSND", ">"), size)
    elif magic[:4] == b".snd":
        offset, length = struct.unpack(">II", magic[4:12])
        layout = _data_layout((offset, length), size) if length < _UNKNOWN_SIZES_FROM else layout
    elif magic.startswith(b"NIST_1A"):
        layout = _sphere(file, size)
    elif magic[:4] == b"OggS":
        layout = _ogg(file, size)
    elif magic[4:8] in (b"ftyp", b"moov", b"mdat", b"wide"):
        layout = Layout(truncated=cut_mp4(file, size))
    elif magic[:4] == b"\x1a\x45\xdf\xa3":
        layout = Layout(truncated=cut_matroska(file, size))
    elif magic[:8] == b"\x30\x26\xb2\x75\x8e\x66\xcf\x11":
        layout = Layout(truncated=cut_asf(file, size))
    elif magic[:3] == b"ID3" or (magic[:1] == b"\xff" and magic[1:2] >= b"\xe0" and magic[1] & 6):
        layout = _mp3(file)
    return layout


def _data_layout(data: tuple[int, int] | None, size: int) -> Layout:
    """Compare a data part (start, bytes) with the size of the file."""
    if data is None or data[0] + data[1] <= size:
        return Layout()
    return Layout(truncated=f"it declares {data[1]} bytes of audio and has {max(0, size - data[0])}")


def _find_chunk(file: BinaryIO, wanted: bytes, order: str) -> tuple[int, int] | None:
    """Return where the content of a RIFF or IFF chunk starts, and its declared size."""
    position = 12
    for _ in range(_MAX_CHUNKS):
        file.seek(position)
        header = file.read(8)
        if len(header) < 8:
            return None
        (length,) = struct.unpack(f"{order}I", header[4:])
        if header[:4] == wanted:
            return position + 8, length
        position += 8 + length + length % 2
    return None


def _wave(file: BinaryIO, size: int) -> Layout:
    data = _find_chunk(file, b"data", "<")
    if data is None:
        return Layout()
    start, length = data
    if length == 0 and size > start and start <= _MAX_HEAD_BYTES and not _chunks_reach_end(file, start, size):
        file.seek(0)
        head = file.read(start)[:-4] + struct.pack("<I", min(size - start, 0xFFFF_FFFE))
        return Layout(head=head, offset=start)
    if length == 0xFFFF_FFFF:
        # RF64 keeps the true size in the chunk ds64: RIFF size, then data size, 64 bits each (EBU Tech 3306).
        ds64 = _find_chunk(file, b"ds64", "<")
        if ds64 is None:
            return Layout()
        file.seek(ds64[0] + 8)
        field = file.read(8)
        length = int.from_bytes(field, "little") if len(field) == 8 else 0
    elif length in _UNKNOWN_SIZES or length >= _UNKNOWN_SIZES_FROM:
        return Layout()
    return _data_layout((start, length), size)


def _chunks_reach_end(file: BinaryIO, position: int, size: int) -> bool:
    """Whether well-formed chunks fill the file from here on: then an empty data chunk is really empty."""
    for _ in range(_MAX_CHUNKS):
        if position >= size:
            return True
        file.seek(position)
        header = file.read(8)
        if len(header) < 8 or not header[:4].isascii() or not header[:4].decode("ascii").isprintable():
            return False
        (length,) = struct.unpack("<I", header[4:])
        position += 8 + length + length % 2
        if position > size + 1:
            return False
    return False


def _sphere(file: BinaryIO, size: int) -> Layout:
    file.seek(0)
    fields: dict[bytes, int] = {}
    for line in file.read(_SPHERE_HEADER_BYTES).split(b"\n"):
        words = line.split()
        if len(words) == 3 and words[1] == b"-i" and words[2].isdigit() and len(words[2]) < 16:
            fields[words[0]] = int(words[2])
    if b"sample_count" not in fields:
        return Layout()
    frame_bytes = fields.get(b"channel_count", 1) * fields.get(b"sample_n_bytes", 2)
    return _data_layout((_SPHERE_HEADER_BYTES, fields[b"sample_count"] * frame_bytes), size)


def _ogg(file: BinaryIO, size: int) -> Layout:
    """Look for the end: a page that is whole and marked as the last (RFC 3533, section 6)."""
    file.seek(max(0, size - _OGG_TAIL_BYTES))
    tail = file.read(_OGG_TAIL_BYTES)
    page = tail[max(0, tail.rfind(b"OggS")) :]
    if len(page) > _OGG_HEADER_BYTES:
        segments = page[_OGG_HEADER_BYTES : _OGG_HEADER_BYTES + page[26]]
        whole = len(segments) == page[26] and _OGG_HEADER_BYTES + page[26] + sum(segments) <= len(page)
        if whole and page[:4] == b"OggS" and page[5] & _OGG_END_OF_STREAM:
            return Layout()
    return Layout(truncated="its last page is not the end of the Ogg stream")


def _mp3(file: BinaryIO) -> Layout:
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        frames = count_frames(data)
    if frames is None:
        return Layout()
    truncated = None if frames.whole else "its last MPEG frame is cut"
    return Layout(truncated=truncated, head=xing_frame(frames), offset=frames.start)
