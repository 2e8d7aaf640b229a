"""
Random texts that are quantities or versions, nearly always.
"""

from __future__ import annotations

from random import Random
from typing import Final

#: Small amounts that upstream holds by reference, as it does large ones: too many digits, or a binary fraction.
WIDE: Final = ("1.000000000000000000", "1.500000000000000000", "0.0009765625Ki", "0.00048828125Ki", "0.001953125Ki")

_SUFFIXES: Final = ("", "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_WORDS: Final = ("alpha", "beta", "rc", "x-y", "-", "A", "a", "0a", "1", "2", "10", "0", "18446744073709551615")
_ODD_WORDS: Final = ("", "01", "a_b", "é", "18446744073709551616", "٣")


def quantity_text(random: Random) -> str:
    """Return a quantity; one in twelve is spoiled by a character."""
    digits = "".join(random.choices("0123456789", k=random.choice((1, 1, 2, 3, 5, 9, 16, 19, 22))))
    if random.random() < 0.3:
        digits = digits[0] + "0" * (len(digits) - 1)
    point = random.randint(0, len(digits)) if random.random() < 0.5 else len(digits)
    number = digits[:point] + ("." if point < len(digits) or random.random() < 0.05 else "") + digits[point:]
    suffix = random.choice(_SUFFIXES)
    if random.random() < 0.2:
        suffix = random.choice("eE") + random.choice(("", "+", "-")) + str(random.randint(0, 30))
    text = random.choice(("", "", "", "+", "-")) + number + suffix
    if random.random() < 1 / 12:
        at = random.randint(0, len(text))
        text = text[:at] + random.choice("iKkme.+- x0") + text[at + random.randint(0, 1) :]
    return text


def version_text(random: Random) -> str:
    """Return a version; one in twelve has an odd part."""
    odd = random.random() < 1 / 12
    core = [str(random.choice((0, 1, 1, 2, 10, 2**64 - 1))) for _ in range(3)]
    if odd and random.random() < 0.5:
        core[random.randint(0, 2)] = random.choice(("01", "", "v1", "1 ", str(2**64), "-1"))
    if odd and random.random() < 0.2:
        core.pop()
    words = (*_WORDS, *_ODD_WORDS) if odd else _WORDS
    prerelease = "-" + ".".join(random.choices(words, k=random.randint(1, 3))) if random.random() < 0.6 else ""
    build = "+" + ".".join(random.choices(words, k=random.randint(1, 2))) if random.random() < 0.3 else ""
    return ".".join(core) + prerelease + build
