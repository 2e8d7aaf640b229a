"""
Durations and instants as CEL values, to the nanosecond, and their texts in Go's dialect.

Spec: CEL-52
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final

from dra_alloc.cel.check.types import DURATION, TIMESTAMP
from dra_alloc.cel.errors import CelError
from dra_alloc.cel.values.runtime import MAX_INT, MIN_INT, NO_SUCH_OVERLOAD

SECOND: Final = 10**9
#: 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
MIN_SECONDS: Final = -62_135_596_800
MAX_SECONDS: Final = 253_402_300_799
_DAY: Final = 86_400


class Duration:
    """A span of time in whole nanoseconds, an int64 of them."""

    __slots__ = ("nanos",)
    cel_type = DURATION
    go_type = "types.Duration"
    go_map_key = True
    go_receiver = True

    def __init__(self, nanos: int) -> None:
        if not MIN_INT <= nanos <= MAX_INT:
            raise CelError("integer overflow")
        self.nanos = nanos

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(self.nanos)

    @property
    def cel_zero(self) -> bool:
        return not self.nanos

    def cel_equal(self, other: Any) -> bool:
        """Whether `other` is the same length or instant."""
        return self.__eq__(other)

    def cel_compare(self, other: Any) -> int:
        return int(self.nanos > other.nanos) - int(self.nanos < other.nanos)

    def cel_add(self, other: Any) -> Duration | Timestamp:
        if isinstance(other, Timestamp):
            return other.cel_add(self)
        if not isinstance(other, Duration):
            raise CelError(NO_SUCH_OVERLOAD)
        return Duration(self.nanos + other.nanos)

    def cel_subtract(self, other: Any) -> Duration:
        if not isinstance(other, Duration):
            raise CelError(NO_SUCH_OVERLOAD)
        return Duration(self.nanos - other.nanos)

    def cel_negate(self) -> Duration:
        return Duration(-self.nanos)

    def in_units(self, unit: int) -> float:
        """The length in multiples of `unit` nanoseconds, rounded as Go rounds it: whole part and rest apart."""
        whole, rest = divmod(abs(self.nanos), unit)
        value = float(whole) + rest / float(unit)
        return -value if self.nanos < 0 else value

    def text(self) -> str:
        """What ``string(d)`` gives: seconds in decimal."""
        seconds = Decimal(repr(self.in_units(SECOND)))
        shown = f"{seconds:f}"
        return f"{shown.rstrip('0').rstrip('.') if '.' in shown else shown}s"

    def __str__(self) -> str:
        """What Go prints: ``1h2m0.5s``, below a second ``1.5ms``."""
        nanos, sign = abs(self.nanos), "-" if self.nanos < 0 else ""
        if nanos == 0:
            return "0s"
        for unit, name in ((1_000, "ns"), (1_000_000, "µs"), (SECOND, "ms")):
            if nanos < unit:
                return f"{sign}{_decimal(nanos, unit // 1_000)}{name}"
        minutes, rest = divmod(nanos, 60 * SECOND)
        hours, minutes = divmod(minutes, 60)
        head = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
        return f"{sign}{head}{_decimal(rest, SECOND)}s"


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    if not rest:
        return str(whole)
    return f"{whole}.{str(rest).rjust(len(str(unit)) - 1, '0').rstrip('0')}"


class Timestamp:
    """An instant in seconds since 1970 and nanoseconds, with the offset it was written with."""

    __slots__ = ("nanos", "offset", "seconds")
    cel_type = TIMESTAMP
    go_type = "types.Timestamp"
    go_map_key = True
    go_receiver = True

    def __init__(self, seconds: int, nanos: int = 0, offset: int = 0) -> None:
        if not MIN_SECONDS <= seconds <= MAX_SECONDS:
            raise CelError("timestamp overflow")
        self.seconds = seconds
        self.nanos = nanos
        self.offset = offset

    @property
    def cel_zero(self) -> bool:
        return self.seconds == MIN_SECONDS and self.nanos == 0

    @property
    def instant(self) -> int:
        """Nanoseconds since 1970."""
        return self.seconds * SECOND + self.nanos

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.instant == other.instant

    def __hash__(self) -> int:
        return hash(self.instant)

    def cel_equal(self, other: Any) -> bool:
        """Whether `other` is the same length or instant."""
        return self.__eq__(other)

    def cel_compare(self, other: Any) -> int:
        left, right = self.instant, other.instant
        return int(left > right) - int(left < right)

    def _shifted(self, nanos: int) -> Timestamp:
        return Timestamp(*divmod(self.instant + nanos, SECOND), self.offset)

    def cel_add(self, other: Any) -> Timestamp:
        if not isinstance(other, Duration):
            raise CelError(NO_SUCH_OVERLOAD)
        return self._shifted(other.nanos)

    def cel_subtract(self, other: Any) -> Duration | Timestamp:
        if isinstance(other, Timestamp):
            return Duration(self.instant - other.instant)
        if not isinstance(other, Duration):
            raise CelError(NO_SUCH_OVERLOAD)
        return self._shifted(-other.nanos)

    def text(self) -> str:
        """What ``string(t)`` gives: RFC 3339 with the offset it was written with."""
        return f"{self._clock('T')}{'Z' if self.offset == 0 else self._zone(':')}"

    def __str__(self) -> str:
        """What Go prints."""
        zone = "+0000 UTC" if self.offset == 0 else f"{self._zone('')} {self._zone('')}"
        return f"{self._clock(' ')} {zone}"

    def _clock(self, between: str) -> str:
        days, rest = divmod(self.seconds + self.offset, _DAY)
        year, month, day = civil(days)
        hours, rest = divmod(rest, 3600)
        minutes, seconds = divmod(rest, 60)
        fraction = f".{self.nanos:09d}".rstrip("0") if self.nanos else ""
        return f"{year:04d}-{month:02d}-{day:02d}{between}{hours:02d}:{minutes:02d}:{seconds:02d}{fraction}"

    def _zone(self, between: str) -> str:
        hours, minutes = divmod(abs(self.offset) // 60, 60)
        return f"{'-' if self.offset < 0 else '+'}{hours:02d}{between}{minutes:02d}"


def civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of the proleptic Gregorian calendar, `days` after 1970-01-01; any year."""
    # Count from 0000-03-01, in eras of 400 years.
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return era * 400 + year_of_era + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def days_of(year: int, month: int, day: int) -> int:
    """Days from 1970-01-01 to a date; the inverse of :func:`civil`."""
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


_TIMESTAMP: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)


def parse_timestamp(text: str) -> Timestamp | None:
    """
    The instant `text` names as RFC 3339 as Go reads it, None if it names none.

    Raises: CelError where it lies before year 1 or after year 9999.
    """
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    if not (1 <= month <= 12 and hour < 24 and minute < 60 and second < 60):
        return None
    days = days_of(year, month, day)
    if day < 1 or civil(days) != (year, month, day):
        return None
    nanos = int((match[7] or "")[:9].ljust(9, "0"))
    offset = 0
    if match[8]:
        hours, minutes = int(match[9]), int(match[10])
        if hours > 24 or minutes > 60:
            return None
        offset = (hours * 60 + minutes) * 60
        offset = -offset if match[8] == "-" else offset
    return Timestamp(days * _DAY + hour * 3600 + minute * 60 + second - offset, nanos, offset)


_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": SECOND,
    "m": 60 * SECOND,
    "h": 3_600 * SECOND,
}
_PART: Final = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]+)")
_LIMIT: Final = 2**63


def parse_duration(text: str) -> Duration | None:
    """The duration `text` names (``1h30m``, ``-1.5s``), None if it names none or one too long."""
    negative = text.startswith("-")
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return Duration(0)
    if not rest:
        return None
    total = position = 0
    while position < len(rest):
        match = _PART.match(rest, position)
        part = None if match is None else _part(match)
        if match is None or part is None:
            return None
        total += part
        if total > _LIMIT:
            return None
        position = match.end()
    if total == _LIMIT and not negative:
        return None
    return Duration(-total if negative else total)


def _part(match: re.Match[str]) -> int | None:
    """One number with its unit in nanoseconds."""
    unit = _UNITS.get(match[3])
    whole, fraction = match[1], match[2] or ""
    if unit is None or not (whole or fraction):
        return None
    digits = whole.lstrip("0") or "0"
    if len(digits) > 19 or int(digits) > _LIMIT // unit:
        return None
    return int(digits) * unit + _fraction(fraction, unit)


def _fraction(digits: str, unit: int) -> int:
    """Nanoseconds of a fraction of `unit`, in Go's double arithmetic; digits past an int64 do not count."""
    value, scale = 0, 1.0
    for digit in digits:
        if value > (2**63 - 1) // 10:
            break
        following = value * 10 + int(digit)
        if following > _LIMIT:
            break
        value, scale = following, scale * 10
    return int(value * (unit / scale))
