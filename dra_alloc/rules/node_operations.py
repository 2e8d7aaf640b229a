"""
Slices that skip node operations, such as preparing their devices, need a node that can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Feature
from dra_alloc.rules.base import About, Context, Pick, Reason, Rule

#: What a node declares that knows how to skip operations.
_DECLARED: Final = "DRAOptionalNodeOperations"


class NodeOperations(Rule):
    """
    A device of a slice with skipNodeOperations needs the feature, and a node that declares it.

    Spec: NODEOP-1.
    """

    code = "node-operations"
    about = About.NODE
    spec = ("NODEOP-1",)
    __slots__ = ("_able",)

    def __init__(self, context: Context) -> None:
        declared = context.node.status.declared_features
        self._able = context.profile.on(Feature.OPTIONAL_NODE_OPERATIONS) and _DECLARED in declared

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        return self._able or not device.slice.wire.spec.skip_node_operations

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        return self.add(ask, device)

    def passes(self, ask: Ask, row: SliceRow) -> bool:
        return not row.wire.spec.skip_node_operations

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        return Reason(self.code, f"its slice skips node operations, which needs a node that declares {_DECLARED}")

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        for ask, device in picks:
            if not self.add(ask, device):
                yield f"{device.key} skips node operations, which the node cannot"
