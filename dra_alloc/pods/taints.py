"""
Which node taints a pod puts up with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from dra_alloc.api import Node, Taint, Toleration
from dra_alloc.api.core.nodes import BARRING

#: What a cordon stands for: who tolerates it may run on a cordoned node.
CORDON: Final = Taint.made(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
#: What begins the keys of taints by which the control plane, and that of a cloud, closes a node.
_OF_NODE: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]*")


def closing(node: Node) -> str:
    """Return why a node takes no pods but those that tolerate it, a cordon or a taint: empty if it takes others."""
    if node.spec.unschedulable:
        return "is cordoned"
    taint = next((each for each in node.spec.taints if each.effect in BARRING and is_of_control_plane(each)), None)
    return "" if taint is None else f"is tainted {taint.key}"


def is_of_control_plane(taint: Taint) -> bool:
    """Return whether it is one of the taints by which the control plane says how a node is."""
    return taint.key.startswith(_OF_NODE)


def uncordoned(node: Node) -> Node:
    """Return the node without a cordon, and without the taint that the cluster adds to one."""
    taints = tuple([each for each in node.spec.taints if each.key != CORDON.key])
    return node.replaced(spec=node.spec.replaced(unschedulable=None, taints=taints))


def tolerated(taint: Taint, tolerations: Iterable[Toleration], *, comparing: bool = False) -> bool:
    """Return whether one of the tolerations is for the taint; with `comparing` they may hold numbers against it."""
    return first_tolerating(taint, tolerations, comparing=comparing) is not None


def first_tolerating(taint: Taint, tolerations: Iterable[Toleration], *, comparing: bool = False) -> Toleration | None:
    """Return the first of the tolerations that is for the taint."""
    return next((each for each in tolerations if _tolerates(each, taint, comparing=comparing)), None)


def repelling(taints: Iterable[Taint], tolerations: Sequence[Toleration], *, comparing: bool = False) -> Taint | None:
    """Return the first taint that keeps the pod off the node."""
    for taint in taints:
        if taint.effect in BARRING and not tolerated(taint, tolerations, comparing=comparing):
            return taint
    return None


def _tolerates(toleration: Toleration, taint: Taint, *, comparing: bool) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    wanted, found = toleration.value or "", taint.value or ""
    match toleration.operator or "Equal":
        case "Equal":
            return wanted == found
        case "Exists":
            return True
        case "Lt" | "Gt" if comparing and _INTEGER.fullmatch(wanted) and _INTEGER.fullmatch(found):
            return int(found) < int(wanted) if toleration.operator == "Lt" else int(found) > int(wanted)
        case _:
            return False
