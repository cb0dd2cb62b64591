"""Scripts that a text is written in, as far as tokens depend on them."""

from bisect import bisect_right

# Blocks of Thai, Lao, Myanmar, Khmer, kana and Han (Unicode 16, Blocks.txt; of U+3000 to U+303F only the
# letters and numbers that Scripts.txt counts as Han).
_UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x19E0, 0x19FF),
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3038, 0x303B),
    (0x3040, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xF900, 0xFAFF),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
)
_STARTS = [start for start, _ in _UNSPACED]


def is_unspaced(char: str) -> bool:
    """Return whether a letter or mark belongs to a script that sets no spaces between words.

    These are Han, Hiragana, Katakana, Thai, Lao, Khmer and Myanmar.
    """
    code = ord(char)
    if code < _UNSPACED[0][0]:
        return False
    block = bisect_right(_STARTS, code) - 1
    return code <= _UNSPACED[block][1]
