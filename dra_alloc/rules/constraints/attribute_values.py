"""
Attribute values as the two attribute constraints compare them.
"""

from __future__ import annotations

from typing import TypeAlias

from dra_alloc.api import DeviceAttribute
from dra_alloc.api.semver import is_version

#: Kind and value; versions compare as strings of their own kind.
Scalar: TypeAlias = tuple[str, str | int | bool]
ValueSet: TypeAlias = tuple[str, frozenset[str | int | bool]]


def as_scalar(attribute: DeviceAttribute) -> Scalar | None:
    """Return the scalar by precedence string, int, bool, version; None for lists and empty values."""
    if attribute.string is not None:
        return "string", attribute.string
    if attribute.int_ is not None:
        return "int", attribute.int_
    if attribute.bool_ is not None:
        return "bool", attribute.bool_
    if attribute.version is not None:
        return "version", attribute.version
    return None


def as_set(attribute: DeviceAttribute) -> ValueSet | None:
    """Return the values of a list or the one of a scalar, with their kind; None if there are none."""
    if attribute.ints:
        return "int", frozenset(attribute.ints)
    if attribute.bools:
        return "bool", frozenset(attribute.bools)
    if attribute.strings:
        return "string", frozenset(attribute.strings)
    if attribute.versions:
        return "version", frozenset(attribute.versions)
    if attribute.int_ is not None:
        return "int", frozenset((attribute.int_,))
    if attribute.bool_ is not None:
        return "bool", frozenset((attribute.bool_,))
    if attribute.string is not None:
        return "string", frozenset((attribute.string,))
    if attribute.version is not None:
        return "version", frozenset((attribute.version,))
    return None


def is_comparable(attribute: DeviceAttribute, *, lists: bool) -> bool:
    """Return whether constraints can compare the value: versions have to be some, and lists only with the feature."""
    if attribute.int_ is not None or attribute.bool_ is not None or attribute.string is not None:
        return True
    if attribute.version is not None:
        return is_version(attribute.version)
    if not lists:
        return False
    if attribute.ints or attribute.bools or attribute.strings:
        return True
    return bool(attribute.versions) and all(map(is_version, attribute.versions or ()))


def without_builds(attribute: DeviceAttribute) -> DeviceAttribute:
    """Return the attribute with its versions without build metadata, which says nothing of precedence (SEM-12)."""
    if attribute.version is not None and "+" in attribute.version:
        return attribute.replaced(version=attribute.version.partition("+")[0])
    if attribute.versions and any("+" in each for each in attribute.versions):
        return attribute.replaced(versions=tuple(each.partition("+")[0] for each in attribute.versions))
    return attribute


def lacking(attribute: str, kind: str) -> str:
    """Return what is said of a device without an attribute that a constraint of a kind compares."""
    return f"no attribute {attribute}, which {kind} needs"


def describe(attribute: DeviceAttribute) -> str:
    """Return the attribute's value as a person would write it."""
    found = as_set(attribute)
    if found is None:
        return "no value"
    return ", ".join(sorted(str(value).lower() if isinstance(value, bool) else str(value) for value in found[1]))
