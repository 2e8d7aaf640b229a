"""
Durations and instants: conversions and the parts of a date, in UTC or a named zone.

Spec: CEL-52
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, available_timezones

from dra_alloc.api.go_text import quote
from dra_alloc.cel.check.declarations import BEFORE_029, Function, Library, Overload
from dra_alloc.cel.check.types import DURATION, INT, STRING, TIMESTAMP
from dra_alloc.cel.errors import CelError, not_converted
from dra_alloc.cel.library.time_values import (
    MAX_SECONDS,
    MIN_SECONDS,
    SECOND,
    Duration,
    Timestamp,
    civil,
    days_of,
    parse_duration,
    parse_timestamp,
)

#: What file systems take for one part of a path, in bytes.
_LONGEST_NAME: Final = 255
_DAY: Final = 86_400
_ATOI: Final = re.compile(r"[+-]?[0-9]+")


def _text_to_duration(text: str) -> Duration:
    value = parse_duration(text)
    if value is None:
        raise not_converted("string", DURATION.name)
    return value


def _int_to_duration(value: int) -> Duration:
    # Declared upstream for a while, never implemented.
    raise not_converted("int", DURATION.name)


def _text_to_timestamp(text: str) -> Timestamp:
    value = parse_timestamp(text)
    if value is None:
        raise not_converted("string", TIMESTAMP.name)
    return value


# Zones


def _offset(moment: Timestamp, zone: str) -> int:
    """Seconds east of UTC; raises CelError for a zone that Go does not know."""
    if ":" in zone:
        return _fixed_offset(zone)
    if zone in ("", "UTC", "Local"):
        return 0
    # A day from either end, so that Python's calendar has room for the offset.
    seconds = min(max(moment.seconds, MIN_SECONDS + _DAY), MAX_SECONDS - _DAY)
    offset = datetime.fromtimestamp(seconds, UTC).astimezone(_zone(zone)).utcoffset()
    assert offset is not None
    return offset.days * _DAY + offset.seconds


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    if name[0] in "/\\" or ".." in name:
        raise CelError("time: invalid location name")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    trouble = _file_trouble(name, parts)
    if trouble:
        raise CelError(trouble)
    try:
        return ZoneInfo("/".join(parts))
    except (ValueError, OSError, LookupError):
        raise CelError(f"unknown time zone {name}") from None


def _file_trouble(name: str, parts: list[str]) -> str:
    """Return what the file system says of a name that no file has; Go passes that on, as zones are files to it."""
    if "\0" in name:
        return "invalid argument"
    zones, folders = _zone_files()
    known = next((count for count in range(len(parts)) if "/".join(parts[:count]) not in folders), len(parts))
    if any(len(part.encode()) > _LONGEST_NAME for part in parts[:known]):
        return "file name too long"
    path = "/".join(parts)
    if path in folders:
        return "is a directory"
    above = {"/".join(parts[:count]) for count in range(1, len(parts) + name.endswith(("/", "/.")))}
    return "not a directory" if above & zones else ""


@lru_cache(maxsize=1)
def _zone_files() -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of all zones, and of the folders that they lie in."""
    zones = frozenset(available_timezones())
    folders = {zone[:place] for zone in zones for place, letter in enumerate(zone) if letter == "/"}
    return zones, frozenset({"", *folders})


def _atoi(text: str) -> int:
    if _ATOI.fullmatch(text) is None:
        raise CelError(f"strconv.Atoi: parsing {quote(text)}: invalid syntax")
    digits = text.lstrip("+-").lstrip("0") or "0"
    value = int(digits) if len(digits) < 20 else 2**64
    value = -value if text[0] == "-" else value
    if not -(2**63) <= value < 2**63:
        raise CelError(f"strconv.Atoi: parsing {quote(text)}: value out of range")
    return value


def _wrapped(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def _fixed_offset(zone: str) -> int:
    """``+05:30`` in seconds; absurd hours wrap around as Go's int64 does."""
    head, _, tail = zone.partition(":")
    hours, minutes = _atoi(head), _atoi(tail)
    total = hours * 60 - minutes if head.startswith("-") else hours * 60 + minutes
    nanos = _wrapped(_wrapped(total) * 60 * SECOND)
    return int(Duration(nanos).in_units(SECOND))


# Parts of a date


def _day_of_year(days: int) -> int:
    return days - days_of(civil(days)[0], 1, 1)


def _date_part(part: Callable[[int], int]) -> Callable[..., int]:
    def run(moment: Timestamp, zone: str = "") -> int:
        return part((moment.seconds + _offset(moment, zone)) // _DAY)

    return run


def _clock_part(part: Callable[[int], int]) -> Callable[..., int]:
    def run(moment: Timestamp, zone: str = "") -> int:
        return part((moment.seconds + _offset(moment, zone)) % _DAY)

    return run


def _milliseconds(moment: Timestamp, zone: str = "") -> int:
    _offset(moment, zone)
    return moment.nanos // 1_000_000


def _whole(unit: int) -> Callable[[Duration], int]:
    return lambda value: int(value.in_units(unit))


def _duration_milliseconds(value: Duration) -> int:
    return -(-value.nanos // 1_000_000) if value.nanos < 0 else value.nanos // 1_000_000


def _getter(
    name: str, identifier: str, run: Callable[..., int], of_duration: Callable[[Duration], int] | None = None
) -> Function:
    zoned = f"timestamp_to_{identifier}{'_tz' if identifier == 'seconds' else '_with_tz'}"
    overloads = [
        Overload(f"timestamp_to_{identifier}", (TIMESTAMP,), INT, run, member=True),
        Overload(zoned, (TIMESTAMP, STRING), INT, run, member=True),
    ]
    if of_duration is not None:
        overloads.append(Overload(f"duration_to_{identifier}", (DURATION,), INT, of_duration, member=True))
    return Function(name, tuple(overloads))


TIMES_LIBRARY: Final = Library(
    "standard times",
    functions=(
        Function(
            "duration",
            (
                Overload("duration_to_duration", (DURATION,), DURATION, lambda value: value),
                Overload("int64_to_duration", (INT,), DURATION, _int_to_duration, window=BEFORE_029),
                Overload("string_to_duration", (STRING,), DURATION, _text_to_duration),
            ),
        ),
        Function(
            "timestamp",
            (
                Overload("timestamp_to_timestamp", (TIMESTAMP,), TIMESTAMP, lambda value: value),
                Overload("int64_to_timestamp", (INT,), TIMESTAMP, Timestamp),
                Overload("string_to_timestamp", (STRING,), TIMESTAMP, _text_to_timestamp),
            ),
        ),
        Function(
            "int",
            (
                Overload("duration_to_int64", (DURATION,), INT, lambda value: value.nanos),
                Overload("timestamp_to_int64", (TIMESTAMP,), INT, lambda value: value.seconds),
            ),
        ),
        Function(
            "string",
            (
                Overload("duration_to_string", (DURATION,), STRING, Duration.text),
                Overload("timestamp_to_string", (TIMESTAMP,), STRING, Timestamp.text),
            ),
        ),
        _getter("getFullYear", "year", _date_part(lambda days: civil(days)[0])),
        _getter("getMonth", "month", _date_part(lambda days: civil(days)[1] - 1)),
        _getter("getDayOfYear", "day_of_year", _date_part(_day_of_year)),
        _getter("getDayOfMonth", "day_of_month", _date_part(lambda days: civil(days)[2] - 1)),
        _getter("getDate", "day_of_month_1_based", _date_part(lambda days: civil(days)[2])),
        # 1970-01-01 was a Thursday.
        _getter("getDayOfWeek", "day_of_week", _date_part(lambda days: (days + 4) % 7)),
        _getter("getHours", "hours", _clock_part(lambda seconds: seconds // 3600), _whole(3600 * SECOND)),
        _getter("getMinutes", "minutes", _clock_part(lambda seconds: seconds // 60 % 60), _whole(60 * SECOND)),
        _getter("getSeconds", "seconds", _clock_part(lambda seconds: seconds % 60), _whole(SECOND)),
        _getter("getMilliseconds", "milliseconds", _milliseconds, _duration_milliseconds),
    ),
)
