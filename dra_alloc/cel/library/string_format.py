"""
``text.format(args)``: the clauses ``%s %d %f %e %b %o %x %X``, each with an optional precision.

The traps: ``%f`` groups thousands and keeps only the low byte of the
precision as the number of digits it must show; ``%e`` takes the precision as
a width; a precision past 10000009 is no precision at all.

Spec: CEL-51
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, NamedTuple

from dra_alloc.api.go_text import quote
from dra_alloc.cel.check.types import CelType
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.library.budget import BoundedText
from dra_alloc.cel.library.time_values import Duration, Timestamp
from dra_alloc.cel.plan.frame import Failed
from dra_alloc.cel.trampoline import Steps, run
from dra_alloc.cel.values.go_numbers import format_double
from dra_alloc.cel.values.runtime import CelMap, UInt, is_list, type_name

_CANNOT_PARSE: Final = "could not parse formatting clause: "
_BAD_PRECISION: Final = _CANNOT_PARSE + "error while parsing precision: "
END: Final = "unexpected end of string"
FAILED: Final = "error during formatting: "
TEXT_ONLY: Final = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
    "and timestamps, was given "
)
_NOT_UTF8: Final = 'could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string'
_DEFAULT_PRECISION: Final = 6
_DIGITS: Final = frozenset(b"0123456789")
#: What Go's parser of widths still reads; beyond, the clause prints as an error of Go's.
_WIDEST: Final = 10_000_009
_UNREADABLE: Final = "%!(NOVERB)"
_SPECIAL_NAMES: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_SUPERSCRIPT: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Clause(NamedTuple):
    """One clause: its letter, its precision if any, and the position after it."""

    verb: str
    precision: int | None
    end: int


def clause_at(text: bytes, start: int) -> Clause:
    """The clause after a percent sign; raises CelError if it is none."""
    precision, position = _precision(text, start)
    if position >= len(text):
        raise CelError(END)
    # Upstream looks at one byte, whatever character it belongs to.
    verb = chr(text[position])
    if verb not in _CLAUSES:
        raise CelError(f'{_CANNOT_PARSE}unrecognized formatting clause "{verb}"')
    return Clause(verb, precision, position + 1)


def _precision(text: bytes, start: int) -> tuple[int | None, int]:
    if text[start : start + 1] != b".":
        return None, start
    end = start + 1
    while end < len(text) and text[end] in _DIGITS:
        end += 1
    if end >= len(text):
        raise CelError(f"{_BAD_PRECISION}could not find end of precision specifier")
    digits = text[start + 1 : end].decode()
    convert = f'error while converting precision to integer: strconv.Atoi: parsing "{digits}": '
    if not digits:
        raise CelError(f"{_BAD_PRECISION}{convert}invalid syntax")
    significant = digits.lstrip("0") or "0"
    if len(significant) > 19 or int(significant) >= 2**63:
        raise CelError(f"{_BAD_PRECISION}{convert}value out of range")
    return int(significant), end


# At run time


def format_text(text: str, args: Any) -> str:
    """
    `text` with its clauses replaced.

    Raises: CelError with upstream's text.
    """
    raw = text.encode()
    out = BoundedText()
    position = used = 0
    while (percent := raw.find(b"%", position)) >= 0:
        out.add(raw[position:percent].decode())
        if raw[percent + 1 : percent + 2] == b"%":
            out.add("%")
            position = percent + 2
            continue
        if used >= len(args):
            raise CelError(f"index {used} out of range")
        if percent + 1 >= len(raw):
            raise CelError(END)
        clause = clause_at(raw, percent + 1)
        _CLAUSES[clause.verb](args[used], clause.precision, out)
        used += 1
        position = clause.end
    out.add(raw[position:].decode())
    return out.text()


def _unfit(what: str, value: Any) -> CelError:
    return CelError(f"{FAILED}{what}, was given {type_name(value)}")


def _decimal(value: Any, precision: int | None, out: BoundedText) -> None:
    if type(value) not in (int, UInt):
        raise _unfit("decimal clause can only be used on integers", value)
    out.add(str(int(value)))


def _octal(value: Any, precision: int | None, out: BoundedText) -> None:
    if type(value) not in (int, UInt):
        raise _unfit("octal clause can only be used on integers", value)
    out.add(f"{int(value):o}")


def _binary(value: Any, precision: int | None, out: BoundedText) -> None:
    if type(value) not in (int, UInt, bool):
        raise _unfit("only integers and bools can be formatted as binary", value)
    out.add(f"{int(value):b}")


def _hexadecimal(upper: bool) -> Callable[[Any, int | None, BoundedText], None]:
    def clause(value: Any, precision: int | None, out: BoundedText) -> None:
        kind = type(value)
        if kind in (int, UInt):
            shown = f"{int(value):x}"
        elif kind in (str, bytes):
            shown = (value.encode() if kind is str else value).hex()
        else:
            raise _unfit("only integers, byte buffers, and strings can be formatted as hex", value)
        out.add(shown.upper() if upper else shown)

    return clause


def _double(value: Any, what: str) -> float:
    if type(value) is str and value in _SPECIAL_NAMES:
        return _SPECIAL_NAMES[value]
    if type(value) is not float:
        raise _unfit(f"{what} clause can only be used on doubles", value)
    return value


def _special(value: float) -> str | None:
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return None


def _fixed(value: Any, precision: int | None, out: BoundedText) -> None:
    number = _double(value, "fixed-point")
    digits = _DEFAULT_PRECISION if precision is None else precision
    if digits > _WIDEST:
        out.add(_UNREADABLE)
        return
    out.add(_special(number) or _grouped(number, digits))


def _grouped(number: float, digits: int) -> str:
    """Thousands separated; at most `digits` (as int16) after the point, at least the low byte of it."""
    # The sign of a zero is lost, the sign of what rounds to zero is not.
    number = number or 0.0
    most, least = (digits + 2**15) % 2**16 - 2**15, digits % 2**8
    text = f"{number:,.{most}f}" if most >= 0 else f"{Decimal(repr(number)):,f}"
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0").ljust(least, "0")
    return f"{whole}.{fraction}" if fraction else whole


def _scientific(value: Any, precision: int | None, out: BoundedText) -> None:
    number = _double(value, "scientific")
    width = _DEFAULT_PRECISION if precision is None else precision
    if width > _WIDEST:
        out.add(_UNREADABLE)
        return
    shown = _special(number)
    if shown is None:
        mantissa, _, exponent = f"{number or 0.0:.6e}".partition("e")
        shown = f"{mantissa}×10{exponent.removeprefix('+').translate(_SUPERSCRIPT)}"
    out.add(shown.rjust(width % 2**16))


def _string(value: Any, precision: int | None, out: BoundedText) -> None:
    shown = _plain(value)
    if shown is not None:
        out.add(shown)
        return
    if not is_list(value) and not isinstance(value, CelMap):
        raise CelError(f"{FAILED}{TEXT_ONLY}{type_name(value)}")
    run(_nested(value, out))


_CLAUSES: Final[dict[str, Callable[[Any, int | None, BoundedText], None]]] = {
    "b": _binary,
    "d": _decimal,
    "e": _scientific,
    "f": _fixed,
    "o": _octal,
    "s": _string,
    "x": _hexadecimal(upper=False),
    "X": _hexadecimal(upper=True),
}


def _plain(value: Any) -> str | None:
    """A value outside of containers, None if it is none of the kinds that have a text."""
    if value is None:
        return "null"
    if isinstance(value, (Duration, Timestamp)):
        return value.text()
    if isinstance(value, CelType):
        return value.name
    show = _PLAIN.get(type(value))
    return None if show is None else show(value)


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError(f"{FAILED}{_NOT_UTF8}") from None


_PLAIN: Final[dict[type, Callable[[Any], str]]] = {
    bool: lambda value: "true" if value else "false",
    bytes: _decoded,
    float: format_double,
    int: str,
    str: lambda value: value,
    UInt: lambda value: str(int(value)),
}


def _nested(value: Any, out: BoundedText) -> Steps[None]:
    """A list or map, or something in one."""
    if is_list(value):
        out.add("[")
        for index, each in enumerate(value):
            out.add(", " if index else "")
            yield _nested(each, out)
        out.add("]")
    elif isinstance(value, CelMap):
        out.add("{")
        entries = sorted(((_key(key), each) for key, each in value.items()), key=lambda entry: entry[0])
        for index, (key, each) in enumerate(entries):
            if type(each) is Failed:
                raise CelError(f"{FAILED}could not find key: {key}")
            out.add(f"{', ' if index else ''}{key}:")
            yield _nested(each, out)
        out.add("}")
    else:
        out.add(_element(value))


def _element(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return quote(value)
    if kind is bytes:
        return f"b{quote(_decoded(value))}"
    if kind is float:
        return f"{value:.6f}" if math.isfinite(value) else f'"{format_double(value)}"'
    shown = _plain(value)
    if shown is None:
        raise CelError(f"{FAILED}no formatting function for {type_name(value)}")
    if isinstance(value, (Duration, Timestamp)):
        return f'{"duration" if isinstance(value, Duration) else "timestamp"}("{shown}")'
    return shown


def _key(key: Any) -> str:
    if type(key) is str:
        return quote(key)
    if type(key) in (bool, int, UInt):
        return _PLAIN[type(key)](key)
    raise CelError(f"{FAILED}no formatting function for map key of type {type_name(key)}")
