"""
What there is to say of a change besides: who uses what is freed, who else a class serves, what is chosen then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from dra_alloc.api import Pod, ResourceClaim
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.errors import first_few
from dra_alloc.explain.cause import having
from dra_alloc.explain.facts import FREEING, REMOVING, TOLERATING, called
from dra_alloc.explain.fix import Fix
from dra_alloc.explain.reasons import Reasons
from dra_alloc.explain.selecting import selecting
from dra_alloc.explain.world import World
from dra_alloc.problem.requests import claim_name
from dra_alloc.rules import taint_name, tolerates
from dra_alloc.solve.ladder import Budget
from dra_alloc.solve.outcome import Solved

#: How it begins who uses a claim, where that is one pod, or pods alone.
USED_BY_PODS: Final = ("used by pod ", "used by pods ")
#: How it begins who set a taint, where that is a driver, and where a toleration goes.
SET_BY_DRIVER: Final = "set by driver "
IN_REQUESTS: Final = ("in request ", "in every request")

#: Selectors without which it is looked what is chosen, and what each of them may cost.
_MOST: Final = 2
_BUDGET: Final = Budget(steps=4_000, pruned=3_000, solver=0.2)
_MOST_USERS: Final = 2
_MOST_REQUESTS: Final = 2
#: How changes begin that may be of classes.
_OF_CLASSES: Final = ("changing what class ", "changing the selector", "guarding ", "writing ")


def with_asides(cluster: Cluster, world: World, reasons: Reasons) -> Reasons:
    """
    Return the reasons with what there is to say of their fixes.

    Spec: EXPLAIN-30.
    """
    aside = _Asides(cluster, world)
    return replace(reasons, fixes=tuple([aside.to(fix) for fix in reasons.fixes]))


@dataclass(slots=True)
class _Asides:
    """Asides to the fixes of one refusal."""

    cluster: Cluster
    world: World
    looked: int = 0

    def to(self, fix: Fix) -> Fix:
        """Return the fix with its asides."""
        told = tuple(map(self._of, fix.steps))
        if not fix.asides and not any(told) and len(fix.steps) == 1:
            told = (self._chosen(fix),)
        if not any(told):
            return fix
        pairs = zip(fix.each_aside, told, strict=True)
        return replace(fix, asides=tuple(["; ".join(filter(None, each)) for each in pairs]))

    def _of(self, step: str) -> str:
        if step.startswith(FREEING):
            claim = self.cluster.claims.get(step.removeprefix(FREEING))
            return "" if claim is None else _users(claim, self.cluster.population.pods)
        if step.startswith(REMOVING):
            return self._setting(step.removeprefix(REMOVING))
        if step.startswith(TOLERATING):
            return self._where(step.removeprefix(TOLERATING))
        changed = _classes_changed(step, {ask.device_class_name for _, _, ask in self.world.asks()})
        return self._others(changed) if changed else ""

    def _setting(self, name: str) -> str:
        """Return who set a taint of devices, and on which: the driver sets it anew while what it stands for lasts."""
        found: dict[str, list[str]] = {}
        for each in self.world.slices:
            tainted = [one.name for one in each.spec.devices if name in map(taint_name, one.taints)]
            found.setdefault(each.spec.driver, []).extend(tainted)
        rules = [each.metadata.name or "" for each in self.world.taint_rules if taint_name(each.spec.taint) == name]
        set_by = [f"by driver {driver} on {first_few(names)}" for driver, names in found.items() if names]
        set_by += [f"by DeviceTaintRule {first_few(rules)}"] if rules else []
        return f"set {' and '.join(set_by)}" if set_by else ""

    def _where(self, name: str) -> str:
        """Return in which requests a taint of devices has to be tolerated: the pod's own tolerations are for nodes."""
        taints = [each.spec.taint for each in self.world.taint_rules]
        taints += [one for each in self.world.slices for device in each.spec.devices for one in device.taints]
        taint = next((each for each in taints if taint_name(each) == name), None)
        without = [
            called(self.world, index, request)
            for index, request, ask in self.world.asks()
            if taint is None or not any(tolerates(each, taint) for each in ask.tolerations)
        ]
        if len(without) > _MOST_REQUESTS:
            return IN_REQUESTS[1]
        return f"in {' and '.join(without)}" if without else ""

    def _others(self, classes: set[str]) -> str:
        """Return how many other claims ask for devices of these classes."""
        own = {claim_name(each) for each in self.world.claims}
        others = [each for each in self.cluster.claims.values() if claim_name(each) not in own]
        count = sum(not classes.isdisjoint(each.spec.devices.class_names()) for each in others)
        them = "it" if len(classes) == 1 else "them"
        return f"{count} other {'claim asks' if count == 1 else 'claims ask'} for {them}, too" if count else ""

    def _chosen(self, fix: Fix) -> str:
        """Return what the devices are that are chosen without a selector, by what it reads of them."""
        changed = fix.change(self.world) if self.looked < _MOST else self.world
        pairs = zip(selecting(self.world), selecting(changed), strict=False)
        found = [
            (before, number)
            for before, after in pairs
            for number, (one, other) in enumerate(zip(before.expressions, after.expressions, strict=False))
            if one != other and before.request and other == "true"
        ]
        if len(found) != 1:
            return ""
        self.looked += 1
        (owner, number), outcome = found[0], changed.allocator().allocate(changed.node, changed.claims, budget=_BUDGET)
        if not isinstance(outcome, Solved):
            return ""
        mine = [
            each.device
            for each in outcome.picks
            if (each.ask.claim, each.ask.full_name) == (owner.index, owner.request)
        ]
        return f"which gets {said} then" if (said := having(owner.expressions[number], mine)) else ""


def _classes_changed(step: str, names: set[str]) -> set[str]:
    """Return which of these classes a step changes."""
    if not step.startswith(_OF_CLASSES):
        return set()
    return {each for each in names if re.search(rf" class {re.escape(each)}(?=[\s,]|$)", step)}


def _users(claim: ResourceClaim, pods: Sequence[Pod]) -> str:
    """Return who uses a claim: its pods, each with what made it if the pod is there, or what else it is."""
    reserved = claim.status.reserved_for
    names = [each.name for each in reserved if each.resource == "pods"]
    if len(names) < len(reserved):
        return f"used by {first_few([f'{each.resource}/{each.name}' for each in reserved])}"
    # A claim that was made for a pod is its alone, and goes with it.
    names = names or [each.name for each in claim.metadata.owner_references if each.kind == "Pod"]
    if not names:
        return ""
    namespace = claim.metadata.namespace
    there = {each.metadata.name: each for each in pods if each.metadata.namespace == namespace}
    inside = f"{namespace}/" if namespace else ""
    told = [f"{inside}{name}{_made_by(there.get(name))}" for name in names[:_MOST_USERS]]
    more = f" and {len(names) - _MOST_USERS} more" if len(names) > _MOST_USERS else ""
    return f"{USED_BY_PODS[len(names) > 1]}{', '.join(told)}{more}"


def _made_by(pod: Pod | None) -> str:
    owners = () if pod is None else pod.metadata.owner_references
    return next((f" of {each.kind} {each.name}" for each in owners if each.controller), "")
