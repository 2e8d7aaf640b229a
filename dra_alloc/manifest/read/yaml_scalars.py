"""
What an unquoted YAML word means to kubectl: a string, a number, a boolean or nothing.

kubectl turns YAML into JSON first (sigs.k8s.io/yaml), so the values here are
JSON values: a whole number written ``2.0`` or ``1e2`` has become ``2`` or ``100``.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Final

from dra_alloc.errors import in_brief
from dra_alloc.manifest.read.json_numbers import JsonFloat, go_number


class ScalarError(ValueError):
    """A tagged word that does not fit its tag, or a number JSON cannot hold."""


_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NOT_JSON: Final = frozenset(
    [sign + word for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")] + [".nan", ".NaN", ".NAN"]
)
_STARTS_NUMBER: Final = frozenset("+-.0123456789")
_INTEGER: Final = re.compile(
    r"[-+]?(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))", re.ASCII
)
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_BETWEEN_DIGITS: Final = re.compile(r"(?<=[0-9])_(?=[0-9])", re.ASCII)
_BASES: Final = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_LONGEST_NUMBER: Final = 4_000

INT64: Final = range(-(1 << 63), 1 << 63)
_UINT64: Final = range(1 << 64)


def resolve(text: str) -> str | int | JsonFloat | bool | None:
    """
    Return what a plain (unquoted, untagged) word stands for.

    Times of day (``12:30:45``), PCI addresses and dates stay strings; ``010`` is
    8, ``08`` is 8, ``1_000`` is 1000, ``y`` is true.

    Spec: YAML-1 to YAML-12. Raises: ScalarError for infinities and not-a-number.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _STARTS_NUMBER:
        return text
    if text in _NOT_JSON:
        raise ScalarError(f"{text} is no number that JSON can hold")
    if len(text) > _LONGEST_NUMBER:
        return text
    # After a leading point underscores must stand between digits; elsewhere they are dropped wherever they are.
    pointed = text[0] == "."
    plain = _BETWEEN_DIGITS.sub("", text) if pointed else text.replace("_", "")
    number: int | JsonFloat | None = None if pointed else _integer(plain)
    if number is None and _FLOAT.fullmatch(plain):
        number = _finite(plain)
    return text if number is None else number


def stands_for(text: str, number: int | JsonFloat | None) -> bool:
    """Say whether a plain word is read as this number."""
    try:
        value = resolve(text)
    except ScalarError:
        return False
    return type(value) is type(number) and value == number


def beyond_floats(text: str) -> bool:
    """Say whether a word would be a number, were it not too large for one."""
    plain = text.replace("_", "")
    return bool(_FLOAT.fullmatch(plain)) and (len(text) > _LONGEST_NUMBER or _finite(plain) is None)


def _integer(text: str) -> int | None:
    """Return a whole number of at most 64 bits, or None; larger decimal ones are read as floats."""
    match = _INTEGER.fullmatch(text)
    if match is None:
        return None
    kind = match.lastgroup or "dec"
    value = int(match[kind], _BASES[kind])
    if text[0] == "-":
        return -value if -value in INT64 else None
    # Go's unsigned parser takes no plus sign.
    return value if value in (INT64 if text[0] == "+" else _UINT64) else None


def _finite(text: str) -> int | JsonFloat | None:
    """Return a float as JSON holds it; one out of range is no number, and so a string."""
    value = float(text)
    return None if value in (float("inf"), float("-inf")) else go_number(value)


def _tag_binary(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        raise ScalarError("!!binary value contains invalid base64 data") from None


def _tag_float(text: str) -> int | JsonFloat:
    value = resolve(text)
    if isinstance(value, bool) or not isinstance(value, (int, JsonFloat)):
        raise ScalarError(f"cannot decode !!str `{in_brief(text)}` as a !!float")
    return go_number(float(value)) if isinstance(value, int) else value


def _tag_exact(kind: type, name: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        value = resolve(text)
        if type(value) is not kind:
            raise ScalarError(f"cannot decode `{in_brief(text)}` as a {name}")
        return value

    return read


_CORE: Final = "tag:yaml.org,2002:"
_TAGS: Final[dict[str, Callable[[str], object]]] = {
    _CORE + "binary": _tag_binary,
    _CORE + "float": _tag_float,
    _CORE + "int": _tag_exact(int, "!!int"),
    _CORE + "bool": _tag_exact(bool, "!!bool"),
    _CORE + "null": _tag_exact(type(None), "!!null"),
}


def resolve_tagged(text: str, tag: str) -> object:
    """
    Return the value of a word with an explicit tag; an unknown tag means a string.

    Spec: YAML-13. Raises: ScalarError if the word does not fit the tag.
    """
    read = _TAGS.get(tag)
    return text if read is None else read(text)


def map_key(value: object) -> str:
    """
    Return the JSON key a YAML key becomes: ``1`` is "1", ``yes`` is "true".

    Spec: YAML-14. Raises: ScalarError for a key that JSON cannot have.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, JsonFloat):
        return value.text
    if isinstance(value, int):
        return str(value)
    raise ScalarError("a key must be a string" + (", not empty" if value is None else ", not a list or an object"))
