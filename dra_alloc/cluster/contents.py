"""
What a cluster is made of, as it was dumped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dra_alloc.api import DeviceClass, DeviceTaintRule, FrozenMap, Node, ResourceClaim, ResourceSlice
from dra_alloc.cluster.claim_names import by_name
from dra_alloc.cluster.implied_nodes import implied_nodes
from dra_alloc.cluster.population import NOBODY, Population
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.errors import Problem
from dra_alloc.manifest import Documents
from dra_alloc.manifest.make.holdings import Holdings
from dra_alloc.manifest.make.records import WireRecord
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.overlay import LateOverlay, Overlay
from dra_alloc.problem.tainting import has_effect

#: A cluster of objects that all answer.
NOTHING_BESIDE: Final = Documents()


@dataclass(frozen=True, slots=True, eq=False)
class Contents:
    """
    Nodes, slices with the taint rules merged into them, classes, claims, pods, and the scheduler that is asked.

    `warnings` are those of the load; the nodes are `implied` if there are no
    Node objects, and follow what slices name. `beside` has what is there and
    answers nothing here: pods without a node, what makes pods, rules without
    effect and the like, for edits to meet.
    """

    nodes: tuple[Node, ...]
    inventory: Inventory
    classes: Mapping[str, DeviceClass]
    claims: Mapping[str, ResourceClaim]
    settings: Settings = DEFAULT_SETTINGS
    warnings: tuple[Problem, ...] = ()
    implied: bool = False
    population: Population = NOBODY
    beside: Documents = NOTHING_BESIDE

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles have objects alone, which share nothing with what is remembered of them; slices keep their order."""
        wires: list[Any] = [row.wire for row in self.inventory.slices]
        slices = [wire.model() if isinstance(wire, WireRecord) else wire for wire in wires]
        maps = dict(self.classes), dict(self.claims)
        rest = self.settings, self.warnings, self.implied, self.population, self.beside
        return _unpickled, (self.nodes, (slices, self.inventory.taint_rules), maps, rest)


def _unpickled(
    nodes: tuple[Node, ...],
    slices: tuple[Sequence[ResourceSlice], Sequence[DeviceTaintRule]],
    maps: tuple[dict[str, DeviceClass], dict[str, ResourceClaim]],
    rest: tuple[Settings, tuple[Problem, ...], bool, Population, Documents],
) -> Contents:
    classes, claims = maps
    return Contents(nodes, Inventory.build(*slices), FrozenMap(classes), Overlay(claims), *rest)


def contents_of(documents: Documents, held: Holdings, settings: Settings) -> Contents:
    """
    Return what loaded objects come to; `held` is what their claims hold.

    Without Node objects the nodes that slices name are taken, with a hostname label only.

    Raises: InputError for a release, gate, channel or semantics that is not known.
    """
    profile = settings.profile()
    merges = settings.merges_taint_rules()
    rules = [rule for rule in documents.taint_rules if has_effect(rule, profile)] if merges else []
    inventory = Inventory.build(documents.slices, rules, documents.laid_out(documents.slices))

    def claims() -> dict[str, ResourceClaim]:
        if held.distinct:
            return dict(zip([each.name for each in held.each], held.claims, strict=True))
        return by_name(held.claims, {})

    return Contents(
        documents.nodes or implied_nodes(inventory),
        inventory,
        FrozenMap({each.metadata.name or "": each for each in documents.classes}),
        LateOverlay(claims),
        settings,
        documents.warnings,
        implied=not documents.nodes,
        population=Population.of(documents, extended=settings.effective_gates().get("DRAExtendedResource", False)),
        beside=beside_of(documents, rules),
    )


def beside_of(documents: Documents, merged: Sequence[DeviceTaintRule]) -> Documents:
    """Return what a cluster keeps of objects for edits alone; `merged` are the rules that taint its devices."""
    known = {id(each) for each in merged}
    return Documents(
        taint_rules=tuple([each for each in documents.taint_rules if id(each) not in known]),
        pods=documents.pods,
        services=documents.services,
        runtime_classes=documents.runtime_classes,
        service_accounts=documents.service_accounts,
        priority_classes=documents.priority_classes,
        limit_ranges=documents.limit_ranges,
        disruption_budgets=documents.disruption_budgets,
        workloads=documents.workloads,
        queueing=documents.queueing,
    )
