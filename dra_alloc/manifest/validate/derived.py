"""
Admission rules of derived attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dra_alloc.api import DerivedAttribute, DeviceConstraint
from dra_alloc.api.constraints import CONSTRAINT_KINDS
from dra_alloc.api.names import fully_qualified_name_faults
from dra_alloc.manifest.validate.parts import first_of_each
from dra_alloc.manifest.validate.releases import GENERATED, ONE_SLASH
from dra_alloc.manifest.validate.violations import Violations

DERIVED_MAX: Final = 32
_NOT_COMPARED: Final = (
    f"must be referenced by at least one {' or '.join(kind.wire for kind in CONSTRAINT_KINDS)} constraint "
    "targeting this request"
)


def compared_by(constraints: Sequence[DeviceConstraint], *names: str) -> frozenset[str]:
    """Return the attributes that constraints compare for a request that goes by these names."""
    return frozenset(
        "" if each.stated is None else each.stated.attribute
        for each in constraints
        if not each.requests or not set(names).isdisjoint(each.requests)
    )


def check_derived(v: Violations, derived: Sequence[DerivedAttribute], compared: frozenset[str], path: str) -> None:
    """Check a list of derived attributes. Spec: VAL-38."""
    # Of a list too long generated checks look at no member, and hand-written ones at all.
    kept = v.as_stored and v.holds(GENERATED)
    passed_over = not kept and v.too_many(v.sent(path), len(derived), DERIVED_MAX) and v.generated
    firsts = first_of_each(each.name for each in derived)
    for position, each in enumerate(derived):
        place = f"{path}[{position}]"
        if not each.name and not v.as_stored and not passed_over:
            v.required(v.sent(f"{place}.name"))
        elif each.name:
            if each.name not in compared:
                v.invalid(f"{place}.name", each.name, _NOT_COMPARED)
            if not passed_over and not kept:
                v.names(
                    v.sent(f"{place}.name"),
                    fully_qualified_name_faults(each.name, declarative=True, one_slash=v.holds(ONE_SLASH)),
                )
        if not each.expression and not v.as_stored and not passed_over:
            v.required(v.sent(f"{place}.expression"))
        elif each.expression:
            v.selector(f"{place}.expression", each.expression, derived=True)
        if not firsts[position]:
            v.duplicate(place, each.name)
