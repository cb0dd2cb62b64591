"""Whether an MP4, Matroska or ASF file is as long as its outermost parts declare.

Sources: ISO/IEC 14496-12, section 4.2 (boxes); RFC 8794, section 4 (EBML variable-size integers); Advanced
Systems Format specification, revision 01.20.03, section 2.1 (objects).
"""

from typing import BinaryIO

_MAX_BOXES = 100_000
_SEGMENT_ID = b"\x18\x53\x80\x67"


def cut_mp4(file: BinaryIO, size: int) -> str | None:
    """Say in words which box reaches beyond the end of the file; None where all are whole."""
    position = 0
    for _ in range(_MAX_BOXES):
        if position + 8 > size:
            return None
        file.seek(position)
        header = file.read(16)
        length = int.from_bytes(header[:4], "big")
        if length == 1:
            length = int.from_bytes(header[8:16], "big")
        elif length == 0:
            return None
        if length < 8:
            return None
        position += length
        if position > size:
            name = header[4:8].decode("latin-1")
            name = name if name.isascii() and name.isalnum() else "unknown"
            return f"its box {name} declares {position - size} bytes more than there are"
    return None


def cut_asf(file: BinaryIO, size: int) -> str | None:
    """Say in words that an object reaches beyond the end of the file; None where all are whole."""
    position = 0
    for _ in range(_MAX_BOXES):
        file.seek(position + 16)
        length = int.from_bytes(file.read(8), "little")
        if length < 24:
            return None
        position += length
        if position > size:
            return f"its objects declare {position - size} bytes more than there are"
    return None


def cut_matroska(file: BinaryIO, size: int) -> str | None:
    """Say in words that the segment reaches beyond the end of the file; None where it is whole or open."""
    file.seek(4)
    position = 4
    header = _variable(file)
    if header is None:
        return None
    position += header[1] + header[0]
    file.seek(position)
    if file.read(4) != _SEGMENT_ID:
        return None
    segment = _variable(file)
    if segment is None or segment[0] == (1 << 7 * segment[1]) - 1:
        return None
    end = position + 4 + segment[1] + segment[0]
    return f"its segment declares {end - size} bytes more than there are" if end > size else None


def _variable(file: BinaryIO) -> tuple[int, int] | None:
    """Return (value, length in bytes) of the variable-size integer at the file's position."""
    first = file.read(1)
    if not first or first == b"\0":
        return None
    length = 9 - first[0].bit_length()
    rest = file.read(length - 1)
    if len(rest) < length - 1:
        return None
    return int.from_bytes(bytes([first[0] & (0xFF >> length)]) + rest, "big"), length
