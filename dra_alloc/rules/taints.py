"""
Device taints and the tolerations of a request.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_alloc.api import DeviceTaint, DeviceToleration, Taint
from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Profile, Trait
from dra_alloc.rules.base import About, Pick, Reason, Rule


def taint_name(taint: DeviceTaint | Taint) -> str:
    """Return what a taint is called: its key, its value if it has one, and its effect."""
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"


def barring(device: DeviceRow, profile: Profile) -> tuple[DeviceTaint, ...]:
    """
    Return the taints that keep requests away unless they are tolerated.

    Spec: TAINT-1, OLD-4.
    """
    return device.taints if profile.shows(Trait.EVERY_TAINT_BARS) else device.blocking_taints


def tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    """
    Return whether the toleration covers the taint; tolerationSeconds do not matter here.

    Spec: TAINT-2.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", None, "Equal"):
        return (toleration.value or "") == (taint.value or "")
    return toleration.operator == "Exists"


class Taints(Rule):
    """
    Every NoSchedule or NoExecute taint has to be tolerated, also with admin access.

    Spec: TAINT-1, TAINT-2, OLD-4.
    """

    code = "taint-not-tolerated"
    about = About.TAINTS
    spec = ("TAINT-1", "TAINT-2", "OLD-4")
    __slots__ = ("_profile",)

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    def _untolerated(self, ask: Ask, device: DeviceRow) -> DeviceTaint | None:
        for taint in barring(device, self._profile):
            if not any(tolerates(toleration, taint) for toleration in ask.tolerations):
                return taint
        return None

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        return not device.taints or self._untolerated(ask, device) is None

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        return self._untolerated(ask, device) is None

    def passes(self, ask: Ask, row: SliceRow) -> bool:
        return row.plain

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        taint = self._untolerated(ask, device)
        if taint is None:
            return super().why(ask, device)
        rules = [each.metadata.name for each in device.slice.taint_rules if each.spec.taint is taint]
        of = f" (of DeviceTaintRule {rules[0]})" if rules else ""
        return Reason(self.code, f"taint {taint_name(taint)}{of} is not tolerated")

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        for ask, device in picks:
            if self._untolerated(ask, device) is not None:
                yield f"{device.key} has a taint that {ask.full_name} does not tolerate"
