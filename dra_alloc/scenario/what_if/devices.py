"""
Steps that change devices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dra_alloc.api import DeviceTaint, DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintSelector, ObjectMeta
from dra_alloc.scenario.what_if.cluster_state import ClusterState
from dra_alloc.scenario.what_if.device_eviction import evicted_by_taints
from dra_alloc.scenario.what_if.step import StepKind, Stepping

__all__ = ["TaintDevices"]


class _Taint(BaseModel):
    """A taint."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    key: str = Field(min_length=1)
    value: str | None = None
    effect: Literal["NoSchedule", "NoExecute"]


class TaintDevices(StepKind):
    """Taint devices, as a DeviceTaintRule does; without driver, pool and device it is all of them."""

    taint: _Taint
    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    seconds: int | None = Field(None, ge=0, description="how long the taint is there; without it, for ever")

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state with the devices tainted, and without the pods that this evicts. Spec: WHATIF-4."""
        settings, dump = state.settings, state.dump
        if not settings.merges_taint_rules():
            stepping.complain("", f"DeviceTaintRules have no effect in {settings.release} with these gates")
        slices = dump.slices
        if self.driver is not None:
            stepping.knows("driver", "no slice has the driver", self.driver, {each.spec.driver for each in slices})
        if self.pool is not None:
            stepping.knows("pool", "no slice has the pool", self.pool, {each.spec.pool.name for each in slices})
        if self.device is not None:
            names = {device.name for each in slices for device in each.spec.devices}
            stepping.knows("device", "no slice has the device", self.device, names)
        rule = DeviceTaintRule.made(
            metadata=ObjectMeta.made(name=f"what-if-{len(dump.taint_rules) + 1}"),
            spec=DeviceTaintRuleSpec.made(
                device_selector=DeviceTaintSelector.made(driver=self.driver, pool=self.pool, device=self.device),
                taint=DeviceTaint.made(key=self.taint.key, value=self.taint.value, effect=self.taint.effect),
            ),
        )
        return evicted_by_taints(
            replace(state, dump=replace(dump, taint_rules=(*dump.taint_rules, rule))), self.seconds
        )
