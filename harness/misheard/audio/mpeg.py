"""Frames of an MP3 without a length header.

libmpg123 takes the length of such a file from its first frame's bit rate, and libsndfile decodes no further:
with a variable bit rate the end of the recording would be lost without a word. Counting the frames and
putting a Xing header in front gives the decoder the true length.

Source: ISO/IEC 11172-3 and 13818-3, section 2.4 (frame header); the Xing header's layout is the one that the
LAME project documents.
"""

import mmap
import struct
from dataclasses import dataclass

_LAYER3 = 1
_BITRATES_V1 = (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320)
_BITRATES_V2 = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_RATES = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
_SYNC_SEARCH_BYTES = 65_536
_XING_SEARCH_BYTES = 64


@dataclass(frozen=True, slots=True)
class MpegFrames:
    """Layer III frames from `start`, where the first lies: their number, and whether the last is whole."""

    start: int
    count: int
    whole: bool
    header: bytes


def count_frames(data: mmap.mmap) -> MpegFrames | None:
    """Return the frames of an MP3 that does not state its length; None where it does, or is no plain MP3."""
    start = _next_frame(data, _after_id3(data))
    if start is None:
        return None
    length = _frame_bytes(data[start : start + 4])
    if length is None or any(tag in data[start : start + _XING_SEARCH_BYTES] for tag in (b"Xing", b"Info")):
        return None
    count, position, whole = 0, start, True
    while position + 4 <= len(data):
        length = _frame_bytes(data[position : position + 4])
        if length is None:
            # A tag at the end or damage in the middle; the search tells them apart.
            following = _next_frame(data, position)
            if following is None:
                break
            position = following
            continue
        whole = position + length <= len(data)
        count += whole
        position += length
    return MpegFrames(start, count, whole, bytes(data[start : start + 4]))


def xing_frame(frames: MpegFrames) -> bytes:
    """Return a silent first frame that states how many frames follow."""
    first = frames.header
    # No checksum, and a bit rate whose frame has room for the tag at every sampling rate.
    header = bytes([first[0], first[1] | 1, (first[2] & 0x0C) | 0x90, first[3]])
    mono = first[3] >> 6 == 3
    version1 = (first[1] >> 3) & 3 == 3
    side_info = (17 if mono else 32) if version1 else (9 if mono else 17)
    tag = b"Xing" + struct.pack(">II", 1, frames.count)
    return (header + bytes(side_info) + tag).ljust(_frame_bytes(header) or 0, b"\0")


def _frame_bytes(header: bytes) -> int | None:
    """Length in bytes of the layer III frame with this header; None where it is no such header."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE0 != 0xE0:
        return None
    version, layer = (header[1] >> 3) & 3, (header[1] >> 1) & 3
    bitrate_index, rate_index = header[2] >> 4, (header[2] >> 2) & 3
    if version == 1 or layer != _LAYER3 or rate_index == 3 or bitrate_index in (0, 15):
        return None
    bitrate = (_BITRATES_V1 if version == 3 else _BITRATES_V2)[bitrate_index] * 1000
    padding = (header[2] >> 1) & 1
    return (144 if version == 3 else 72) * bitrate // _RATES[version][rate_index] + padding


def _next_frame(data: mmap.mmap, position: int) -> int | None:
    """Where the next frame starts that another frame, or the end of the data, follows."""
    limit = min(len(data), position + _SYNC_SEARCH_BYTES)
    while (position := data.find(b"\xff", position, limit)) >= 0:
        length = _frame_bytes(data[position : position + 4])
        if length is not None:
            following = position + length
            if following == len(data) or _frame_bytes(data[following : following + 4]) is not None:
                return position
        position += 1
    return None


def _after_id3(data: mmap.mmap) -> int:
    """Where the audio starts: after the ID3v2 tags, whose lengths are four 7-bit bytes."""
    position = 0
    while data[position : position + 3] == b"ID3" and position + 10 <= len(data):
        size = 0
        for byte in data[position + 6 : position + 10]:
            size = size << 7 | byte & 0x7F
        position += 10 + size
    return position
