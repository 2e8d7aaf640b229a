"""
Taints of devices, and what tolerates them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from dra_alloc.api import DeviceTaint, DeviceToleration
from dra_alloc.errors import first_few, in_brief
from dra_alloc.linting.codes.alternatives import weighed
from dra_alloc.linting.codes.takes import unknown_field
from dra_alloc.linting.looking import AskedDevices, Linting
from dra_alloc.linting.rules import Hit, LintRule
from dra_alloc.linting.written import at, members
from dra_alloc.manifest.kinds import RESOURCE_GROUP, SERVED

_BARRING: Final = ("NoSchedule", "NoExecute")


def _untolerated(linting: Linting) -> Iterator[tuple[AskedDevices, Hit]]:
    """Yield requests of which every candidate has a taint that they do not tolerate."""
    if not linting.published.devices or not linting.settings.effective_gates().get("DRADeviceTaints", False):
        return
    for claim in linting.claims:
        for asked in claim.asked:
            found = linting.candidates(asked)
            if found is None or not found.exact or not found.devices:
                continue
            taints = [_first(each.wire.taints, asked.model.tolerations) for each in found.devices]
            if all(taints):
                keys = sorted({f"{in_brief(each.key)}:{each.effect}" for each in taints if each is not None})
                listed = first_few(keys)
                said = f"all {len(taints):,} candidates have a taint that the request does not tolerate: {listed}"
                hint = "tolerations stand in the request, beside its selectors"
                yield asked, Hit(asked.written, asked.path, said, hint)


def _first(taints: Iterable[DeviceTaint], tolerations: Sequence[DeviceToleration]) -> DeviceTaint | None:
    """Return the first taint that keeps a request off a device."""
    from dra_alloc.rules import tolerates  # noqa: PLC0415 - most files are linted without a cluster, and without all rules

    for taint in taints:
        if taint.effect in _BARRING and not any(tolerates(each, taint) for each in tolerations):
            return taint
    return None


def _selecting(linting: Linting) -> Iterator[Hit]:
    """Yield such selectors of rules that could not be made, of which validation says nothing else."""
    for each in linting.written:
        if (each.group, each.kind) == (RESOURCE_GROUP, "DeviceTaintRule") and each.version not in SERVED[each.kind]:
            selector = members(at(each.value, ("spec", "deviceSelector")))
            for name in ("deviceClassName", "selectors"):
                if name in selector:
                    said = f"a rule has no deviceSelector.{name}"
                    yield Hit(each, ("spec", "deviceSelector", name), said, "it selects by driver, pool and device")


RULES: Final = (
    LintRule(
        "T601",
        "error",
        "a taint rule selects by driver, pool and device; by class and CEL it never did outside of alpha",
        finds=_selecting,
        takes=unknown_field(r"deviceSelector\.(?:deviceClassName|selectors)"),
    ),
    LintRule(
        "T602",
        "error",
        "tolerations of device taints stand in each request",
        takes=unknown_field(r"(?:spec\.)?spec\.(?:devices\.)?tolerations"),
        instead="they stand in requests[].exactly.tolerations, or in that of an alternative",
    ),
    LintRule(
        "T603",
        "warning",
        "every candidate has a taint that is not tolerated",
        finds=weighed(_untolerated),
    ),
)
