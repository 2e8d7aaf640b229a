"""
What constraints of a claim say of the devices picked for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.api import DeviceAttribute, DeviceConstraint
from spec.reference.question import Pick, Question, Wanted

#: Kind and values of an attribute.
Values = tuple[str, frozenset[object]]


def holds(constraint: DeviceConstraint, picks: Sequence[Pick], question: Question) -> bool:
    """
    Return whether the devices picked for one claim, in order, satisfy a constraint of it.

    Spec: MATCH-1..MATCH-4, DISTINCT-1..DISTINCT-3.
    """
    name = constraint.match_attribute or constraint.distinct_attribute
    assert name
    concerned = [pick for pick in picks if _concerns(constraint, pick.wanted)]
    attributes = [_attribute(pick, name) for pick in concerned]
    present = [each for each in attributes if each is not None]
    if len(present) < len(attributes):
        return False
    lists = question.on("ListTypeAttributes")
    values = [_listed(each) if lists else _scalar(each) for each in present]
    if lists and None in values:
        return False
    if constraint.match_attribute:
        return _agree(values)
    return all(_differs(values[index], values[:index]) for index in range(len(values)))


def _concerns(constraint: DeviceConstraint, wanted: Wanted) -> bool:
    return not constraint.requests or wanted.request in constraint.requests or wanted.full in constraint.requests


def _attribute(pick: Pick, name: str) -> DeviceAttribute | None:
    """Return the attribute of that full name; on devices of its domain's driver the domain may be left out."""
    attributes = pick.offer.device.attributes
    domain, _, short = name.partition("/")
    if name in attributes:
        return attributes[name]
    return attributes.get(short) if domain == pick.offer.slice.spec.driver else None


def _scalar(attribute: DeviceAttribute) -> Values | None:
    """Return kind and value of a scalar; None for a list, or nothing."""
    for kind in ("string", "int_", "bool_", "version"):
        value = getattr(attribute, kind)
        if value is not None:
            return kind, frozenset({_without_build(value) if kind == "version" else value})
    return None


def _without_build(version: str) -> str:
    """Return the version without build metadata, which constraints never compare. Spec: MATCH-6."""
    return version.partition("+")[0]


def _listed(attribute: DeviceAttribute) -> Values | None:
    """Return kind and values, a scalar as a list of one; None for nothing."""
    for kind, of in (("ints", "int_"), ("bools", "bool_"), ("strings", "string"), ("versions", "version")):
        values = getattr(attribute, kind)
        if values:
            return of, frozenset(map(_without_build, values) if kind == "versions" else values)
    for kind in ("int_", "bool_", "string", "version"):
        value = getattr(attribute, kind)
        if value is not None:
            return kind, frozenset({_without_build(value) if kind == "version" else value})
    return None


def _agree(values: Sequence[Values | None]) -> bool:
    """Return whether all have one value in common; a device alone always agrees."""
    if len(values) < 2:
        return True
    known = [each for each in values if each is not None]
    common = frozenset.intersection(*(each[1] for each in known)) if known else frozenset()
    return len(known) == len(values) and len({kind for kind, _ in known}) == 1 and bool(common)


def _differs(value: Values | None, before: Sequence[Values | None]) -> bool:
    """Return whether a device shares no value with those before it."""
    if value is None:
        return not before
    return not any(each is not None and each[0] == value[0] and each[1] & value[1] for each in before)
