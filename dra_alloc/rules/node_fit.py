"""
Devices that choose their nodes one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.problem.nodes import NodeSelectorError, is_on_node
from dra_alloc.problem.requests import Ask
from dra_alloc.rules.base import About, Context, Pick, Reason, Rule, SearchStopped


class NodeFit(Rule):
    """
    In a slice with perDeviceNodeSelection the device itself has to match the node.

    Spec: NODE-1.
    """

    code = "device-on-other-node"
    about = About.NODE
    spec = ("NODE-1",)
    gathers = True
    fixed = True
    __slots__ = ("_node",)

    def __init__(self, context: Context) -> None:
        self._node = context.node

    def rejects(self, ask: Ask, device: DeviceRow) -> bool:
        try:
            return device.slice.per_device and not is_on_node(device.wire, self._node)
        except NodeSelectorError as error:
            text = f"failed to parse node selector of device {device.key}: {error}"
            raise SearchStopped(text, code="node-selector") from error

    def passes(self, ask: Ask, row: SliceRow) -> bool:
        return not row.per_device

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        return Reason(self.code, "only usable on other nodes")

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        for ask, device in picks:
            if self.rejects(ask, device):
                yield f"{device.key} is not usable on node {self._node.metadata.name}"
