"""
What is left in a cluster, as lines and as JSON: for answers that are about workloads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dra_alloc.report.layout import plural, some
from dra_alloc.scenario.left.devices import CLOSED_CODE, Stranded
from dra_alloc.scenario.left.left import ClassLeft, Left


def left_lines(left: Left | None, verbose: bool) -> Iterator[str]:
    """Yield what is left for each class, then what is stranded, with why in counts."""
    if left is None:
        return
    if not left.counted:
        yield f"left: not counted, {left.why}"
        return
    yield from (f"left for {each.name}: {_of_class(each)}" for each in left.classes)
    closed = [each for each in left.stranded if each.code == CLOSED_CODE]
    yield from _of_drivers("free, once their nodes take pods again", closed, verbose)
    others = [each for each in left.stranded if each.code != CLOSED_CODE]
    yield from _of_drivers("stranded, free and of use to no class", others, verbose)


def _of_drivers(said: str, stranded: Sequence[Stranded], verbose: bool) -> Iterator[str]:
    for driver in dict.fromkeys(each.driver for each in stranded):
        groups = [each for each in stranded if each.driver == driver]
        count = sum(len(each.devices) for each in groups)
        whys = some([_why(each, verbose) for each in groups], verbose)
        yield f"{said}: {plural(count, 'device')} of {driver}: {whys}"


def _of_class(left: ClassLeft) -> str:
    if left.broken:
        return f"it cannot be asked: {left.broken}"
    if not left.devices:
        return "nothing"
    least = "" if left.proven else " or more"
    return (
        f"{plural(left.devices, 'device')}; {plural(left.gang, 'pod')}{least} of one each at once, "
        f"{left.on_one_node} on one node"
    )


def _why(group: Stranded, verbose: bool) -> str:
    names = f": {', '.join(f'{each.pool}/{each.device}' for each in group.devices)}" if verbose else ""
    return f"{group.said} ({len(group.devices)}{names})"


def left_members(left: Left | None) -> dict[str, Any] | None:
    """Return what is left in JSON; null where nothing is known of it."""
    if left is None or not left.counted:
        return None
    return {
        "classes": [
            {
                "name": each.name,
                "devices": each.devices,
                "gang": each.gang,
                "proven": each.proven,
                "onOneNode": each.on_one_node,
                **({"broken": each.broken} if each.broken else {}),
            }
            for each in left.classes
        ],
        "stranded": [
            {
                "driver": each.driver,
                "code": each.code,
                "said": each.said,
                "devices": [f"{device.pool}/{device.device}" for device in each.devices],
            }
            for each in left.stranded
        ],
    }
