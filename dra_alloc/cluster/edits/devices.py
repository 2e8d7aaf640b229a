"""
Steps that change devices.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Literal

from pydantic import Field

from dra_alloc.api import (
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    ObjectMeta,
    ResourceSlice,
)
from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.device_eviction import evicted_by_taints
from dra_alloc.cluster.edits.step import StepKind, Stepping
from dra_alloc.cluster.edits.waiting import waited
from dra_alloc.cluster.edits.written_taint import WrittenTaint


class _Taint(WrittenTaint):
    """A taint."""

    effect: Literal["NoSchedule", "NoExecute"]


class TaintDevices(StepKind):
    """Taint devices, as a DeviceTaintRule does; without driver, pool and device it is all of them."""

    taint: _Taint
    driver: str | None = None
    pool: str | None = None
    device: str | None = None
    seconds: int | None = Field(None, ge=0, description="how long it is looked at who is evicted; without it, for ever")

    def on(self, state: ClusterState, stepping: Stepping) -> ClusterState:
        """Return the state with the devices tainted, and without the pods that this evicts. Spec: WHATIF-4."""
        self._check(state, stepping)
        dump = state.dump
        there = {each.metadata.name for each in (*dump.taint_rules, *state.manifests.taint_rules)}
        numbered = (f"what-if-{number}" for number in count(1))
        rule = DeviceTaintRule.made(
            metadata=ObjectMeta.made(name=next(each for each in numbered if each not in there)),
            spec=DeviceTaintRuleSpec.made(
                device_selector=DeviceTaintSelector.made(driver=self.driver, pool=self.pool, device=self.device),
                taint=DeviceTaint.made(key=self.taint.key, value=self.taint.value, effect=self.taint.effect),
            ),
        )
        since = (*state.since, (rule, state.clock))
        state = replace(state, dump=replace(dump, taint_rules=(*dump.taint_rules, rule)), since=since)
        return evicted_by_taints(state) if self.seconds is None else waited(state, self.seconds)

    def _check(self, state: ClusterState, stepping: Stepping) -> None:
        """Complain about rules that have no effect, about a selector that meets no device, and about the taint."""
        settings = state.settings
        if not settings.merges_taint_rules():
            gates = settings.effective_gates()
            off = [each for each in ("DRADeviceTaints", "DRADeviceTaintRules") if gates.get(each) is False]
            hint = f"set --gate {' --gate '.join(f'{each}=true' for each in off)}" if off else ""
            stepping.complain("", f"DeviceTaintRules have no effect in {settings.release} with these gates", hint)
        slices, known = state.dump.slices, True
        for path, wanted, there in (
            ("driver", self.driver, {each.spec.driver for each in slices}),
            ("pool", self.pool, {each.spec.pool.name for each in slices}),
            ("device", self.device, {device.name for each in slices for device in each.spec.devices}),
        ):
            if wanted is not None:
                known &= stepping.knows(path, f"no slice has the {path}", wanted, there)
        if known and not any(map(self._meets, slices)):
            stepping.complain("", "there is no device of that driver and pool by that name")
        self.taint.complain(stepping)

    def _meets(self, item: ResourceSlice) -> bool:
        spec = item.spec
        return (
            self.driver in (None, spec.driver)
            and self.pool in (None, spec.pool.name)
            and any(self.device in (None, each.name) for each in spec.devices)
        )
