"""
The formats of names, with the words the API server refuses them in.

Each function returns what is wrong with a value as details of an error;
nothing means that the value is fine.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = [
    "c_identifier",
    "dns_label",
    "driver_name",
    "extended_resource_name",
    "label_key",
    "label_value",
    "pool_name",
    "qualified_name",
    "qualified_name_lengths",
    "semantic_version",
    "subdomain",
]

LABEL_MAX: Final = 63
SUBDOMAIN_MAX: Final = 253
IDENTIFIER_MAX: Final = 32

_LABEL_RE: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN_RE: Final = rf"{_LABEL_RE}(\.{_LABEL_RE})*"
_NAME_RE: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE_RE: Final = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"
_IDENTIFIER_RE: Final = "[A-Za-z_][A-Za-z0-9_]*"

_LABEL: Final = re.compile(_LABEL_RE)
_SUBDOMAIN: Final = re.compile(_SUBDOMAIN_RE)
_NAME: Final = re.compile(_NAME_RE)
_VALUE: Final = re.compile(_VALUE_RE)
_IDENTIFIER: Final = re.compile(_IDENTIFIER_RE)
_PRE: Final = r"(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMVER: Final = re.compile(
    r"(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)"
    rf"(?:-{_PRE}(?:\.{_PRE})*)?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?"
)

_USED: Final = "regex used for validation is"
_ENDS: Final = "and must start and end with an alphanumeric character"
_LABEL_WRONG: Final = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ENDS} "
    f"(e.g. 'my-name',  or '123-abc', {_USED} '{_LABEL_RE}')"
)
_SUBDOMAIN_WRONG: Final = (
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ENDS} "
    f"(e.g. 'example.com', {_USED} '{_SUBDOMAIN_RE}')"
)
_NAME_PART_WRONG: Final = (
    f"must consist of alphanumeric characters, '-', '_' or '.', {_ENDS} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', {_USED} '{_NAME_RE}')"
)
_VALUE_WRONG: Final = (
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_ENDS} "
    f"(e.g. 'MyValue',  or 'my_value',  or '12345', {_USED} '{_VALUE_RE}')"
)
_KEY_WRONG: Final = (
    f"a valid label key {_NAME_PART_WRONG} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
_IDENTIFIER_WRONG: Final = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters "
    f"or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', {_USED} '{_IDENTIFIER_RE}')"
)


def too_long(value: str, limit: int) -> bool:
    """Say whether a value has more bytes than it may."""
    return len(value.encode("utf-8", "replace")) > limit


def _length(value: str, limit: int, unit: str) -> list[str]:
    # Bytes are counted, whatever the server calls them.
    return [f"must be no more than {limit} {unit}"] if too_long(value, limit) else []


def dns_label(value: str) -> list[str]:
    """Check a DNS label: requests, devices, counter sets. Spec: VAL-1."""
    wrong = _length(value, LABEL_MAX, "characters")
    if not _LABEL.fullmatch(value):
        wrong.append("must not contain dots" if _SUBDOMAIN.fullmatch(value) else _LABEL_WRONG)
    return wrong


def subdomain(value: str, unit: str = "characters") -> list[str]:
    """Check a DNS subdomain: object names, class names. Spec: VAL-2."""
    return _length(value, SUBDOMAIN_MAX, unit) + ([] if _SUBDOMAIN.fullmatch(value) else [_SUBDOMAIN_WRONG])


def driver_name(value: str) -> list[str]:
    """Check a driver's name but for its length; its case does not matter. Spec: VAL-3."""
    return subdomain(value.lower())


def pool_name(value: str) -> list[tuple[str, list[str]]]:
    """Return the parts of a pool's name that are no subdomains, each with what is wrong with it. Spec: VAL-4."""
    return [(part, wrong) for part in value.split("/") if (wrong := subdomain(part))]


def c_identifier(value: str) -> list[str]:
    """Check the name part of an attribute. Spec: VAL-5."""
    return [] if _IDENTIFIER.fullmatch(value) else [_IDENTIFIER_WRONG]


def qualified_name(value: str) -> list[tuple[str, list[str]]]:
    """
    Return the parts of ``domain/id`` or ``id`` that are wrong, each with what is wrong with it.

    More than one slash is let through unseen, as the server does up to 1.36. Spec: VAL-6.
    """
    if value.count("/") > 1:
        return []
    domain, slash, name = value.rpartition("/")
    parts: list[tuple[str, list[str]]] = []
    if slash:
        parts.append((domain, driver_name(domain) if domain else ["the domain must not be empty"]))
    parts.append((name, c_identifier(name) if name or not slash else ["the name must not be empty"]))
    return [(part, wrong) for part, wrong in parts if wrong]


def qualified_name_lengths(value: str) -> list[int]:
    """Return the limits that the parts of ``domain/id`` go beyond."""
    if value.count("/") > 1:
        return []
    domain, _, name = value.rpartition("/")
    limits = ((domain, LABEL_MAX), (name, IDENTIFIER_MAX))
    return [limit for part, limit in limits if too_long(part, limit)]


def label_key(value: str) -> list[str]:
    """Check the key of a label, taint or toleration. Spec: VAL-8."""
    parts = value.split("/")
    if len(parts) > 2:
        return [_KEY_WRONG]
    wrong: list[str] = []
    if len(parts) == 2:
        prefix = parts[0]
        wrong += (
            ["prefix part must be non-empty"] if not prefix else [f"prefix part {text}" for text in subdomain(prefix)]
        )
    name = parts[-1]
    if not name:
        wrong.append("name part must be non-empty")
    wrong += [f"name part {text}" for text in _length(name, LABEL_MAX, "bytes")]
    if not _NAME.fullmatch(name):
        wrong.append(f"name part {_NAME_PART_WRONG}")
    return wrong


def label_value(value: str) -> list[str]:
    """Check the value of a label, taint or toleration. Spec: VAL-9."""
    return _length(value, LABEL_MAX, "bytes") + ([] if _VALUE.fullmatch(value) else [_VALUE_WRONG])


def extended_resource_name(value: str) -> list[str]:
    """Check the name of an extended resource. Spec: VAL-10."""
    fine = "/" in value and "kubernetes.io/" not in value and not value.startswith("requests.")
    return [] if fine and not label_key(f"requests.{value}") else ["must be a valid extended resource name"]


def semantic_version(value: str) -> list[str]:
    """Check a version attribute. Spec: VAL-11."""
    return [] if _SEMVER.fullmatch(value) else ["must be a string compatible with semver.org spec 2.0.0"]
