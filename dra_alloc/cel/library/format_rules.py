"""
What is wrong with a text, format by format, in the API server's words.

Spec: CEL-60
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from dra_alloc.api.names import (
    KEY,
    KEY_TEXT,
    LABEL,
    LABEL_TEXT,
    MAX_LABEL,
    MAX_SUBDOMAIN,
    SUBDOMAIN,
    SUBDOMAIN_TEXT,
    VALUE,
    VALUE_TEXT,
    expression_text,
)
from dra_alloc.cel.library.percent import BadUrl
from dra_alloc.cel.library.time_values import civil, days_of
from dra_alloc.cel.library.url_parse import parse_request_uri

_Check = Callable[[str], list[str]]
_OLD_LABEL: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"


class Words(NamedTuple):
    """How a release speaks of label keys and lengths."""

    unit: str
    key: str


CHARACTERS: Final = Words("characters", "a qualified name")
BYTES: Final = Words("bytes", "a valid label key")


_OLD_LABEL_RULE: Final = expression_text(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
    "start with an alphabetic character, and end with an alphanumeric character",
    _OLD_LABEL,
    "my-name",
    "abc-123",
)


def _too_long(text: str, limit: int, unit: str) -> list[str]:
    return [f"must be no more than {limit} {unit}"] if len(text.encode()) > limit else []


def _checked(limit: int, pattern: str, rule: str, unit: str = "characters") -> _Check:
    form = re.compile(pattern)

    def check(text: str) -> list[str]:
        problems = _too_long(text, limit, unit)
        return problems if form.fullmatch(text) else [*problems, rule]

    return check


_label: Final = _checked(MAX_LABEL, LABEL, LABEL_TEXT)
dns1035_label: Final = _checked(MAX_LABEL, _OLD_LABEL, _OLD_LABEL_RULE)


def _subdomain(unit: str) -> _Check:
    return _checked(MAX_SUBDOMAIN, SUBDOMAIN, SUBDOMAIN_TEXT, unit)


dns1123_subdomain: Final = _subdomain("characters")
_DOTTED: Final = re.compile(SUBDOMAIN)


def dns1123_label(text: str) -> list[str]:
    """The check of host name labels; a whole host name has a complaint of its own."""
    problems = _label(text)
    if problems and problems[-1] == LABEL_TEXT and _DOTTED.fullmatch(text):
        problems[-1] = "must not contain dots"
    return problems


def label_value(words: Words) -> _Check:
    """The check of label values; empty is fine."""
    return _checked(MAX_LABEL, VALUE, VALUE_TEXT, words.unit)


def prefix(check: _Check) -> _Check:
    """`check` for what a generated name starts with: a dash at the end hides the character before it."""

    def masked(text: str) -> list[str]:
        return check(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)

    return masked


def qualified_name(words: Words) -> _Check:
    """The check of names with an optional domain before a slash."""
    subdomain = _subdomain(words.unit)
    whole = f"{words.key} {KEY_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
    form = re.compile(KEY)

    def check(text: str) -> list[str]:
        head, slash, name = text.rpartition("/")
        if "/" in head:
            return [whole]
        problems: list[str] = []
        if slash:
            found = subdomain(head) if head else ["must be non-empty"]
            problems += [f"prefix part {problem}" for problem in found]
        if not name:
            problems.append("name part must be non-empty")
        problems += [f"name part {problem}" for problem in _too_long(name, MAX_LABEL, words.unit)]
        if not form.fullmatch(name):
            problems.append(f"name part {KEY_TEXT}")
        return problems

    return check


def uri(text: str) -> list[str]:
    """The check of absolute URIs and paths."""
    try:
        parse_request_uri(text)
    except BadUrl as problem:
        return [str(problem)]
    return []


_UUID: Final = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.ASCII | re.IGNORECASE)
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})")


def uuid(text: str) -> list[str]:
    """The check of UUIDs; the dashes may be missing."""
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def base64(text: str) -> list[str]:
    """The check of padded standard base64; empty is not fine."""
    return [] if _BASE64.fullmatch(text) else ["invalid base64"]


def _is_date(text: str) -> bool:
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    return 1 <= month <= 12 and day >= 1 and civil(days_of(year, month, day)) == (year, month, day)


def date(text: str) -> list[str]:
    """The check of full dates."""
    return [] if _is_date(text) else ["invalid date"]


def datetime(text: str) -> list[str]:
    """The check of RFC 3339 instants, letters in any case."""
    day, _, clock = text.lower().partition("t")
    match = _TIME.fullmatch(clock)
    if not _is_date(day) or match is None or match[1] > "23" or match[2] > "59" or match[3] > "59":
        return ["invalid datetime"]
    return []
