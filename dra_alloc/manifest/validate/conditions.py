"""
Admission rules of the conditions that a status reports.
"""

from __future__ import annotations

import re
from typing import Final

from dra_alloc.api import Condition
from dra_alloc.api.names import label_key_faults
from dra_alloc.manifest.validate.parts import first_of_each
from dra_alloc.manifest.validate.releases import UNWORDED
from dra_alloc.manifest.validate.violations import Violations

CONDITIONS_MAX: Final = 8
REASON_MAX: Final = 1024
MESSAGE_MAX: Final = 32 * 1024
_STATES: Final = ("False", "True", "Unknown")
_REASON: Final = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON_TEXT: Final = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
    f"'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '{_REASON}')"
)


def check_conditions(v: Violations, conditions: tuple[Condition, ...], path: str) -> None:
    """Check a list of conditions, each type once; of one that is too long all are looked at. Spec: VAL-15."""
    firsts = first_of_each(each.type for each in conditions)
    v.too_many(path, len(conditions), CONDITIONS_MAX)
    for position, condition in enumerate(conditions):
        _condition(v, condition, f"{path}[{position}]", first=firsts[position])


def _condition(v: Violations, condition: Condition, path: str, *, first: bool) -> None:
    if v.generated and not condition.type:
        v.required(f"{path}.type", "" if v.holds(UNWORDED) else "is required")
    else:
        v.names(f"{path}.type", label_key_faults(condition.type))
    if v.generated and not condition.status:
        v.required(f"{path}.status")
    elif condition.status not in _STATES:
        v.unsupported(f"{path}.status", condition.status, _STATES)
    if not first:
        v.duplicate(path if v.generated else f"{path}.type", condition.type)
    if (condition.observed_generation or 0) < 0:
        text = f"must be greater than or equal to {'0' if v.holds(UNWORDED) else 'zero'}"
        v.invalid(f"{path}.observedGeneration", condition.observed_generation, text)
    if condition.last_transition_time is None:
        v.required(f"{path}.lastTransitionTime")
    if not condition.reason:
        v.required(f"{path}.reason")
    elif not re.fullmatch(_REASON, condition.reason):
        v.invalid(f"{path}.reason", condition.reason, _REASON_TEXT)
    v.too_long(f"{path}.reason", condition.reason, REASON_MAX)
    v.too_long(f"{path}.message", condition.message, MESSAGE_MAX)
