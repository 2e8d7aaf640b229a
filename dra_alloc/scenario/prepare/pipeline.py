"""
From documents to prepared subjects, step by step: what check, gang, the harness and all other commands start from.

Each step takes what is prepared so far and returns it with one thing more, so
that a new one is a function and its line in `STEPS`. They go in this order:

1. `_in_namespace`: objects that name no namespace get the command's, as kubectl does; so do those of a dump.
2. `_named`: what has only generateName gets a name. After the namespace, in which a name has to be new.
3. `_there`: pods that the dump has are as they are there, and what is new has no status.
4. `stored`: fields of disabled gates are dropped, as the API server does with what it is sent. Objects of the dump
   are stored already.
5. `_merged`: the manifests' objects replace or join the dump's. A spec that cannot change has to be the same, and
   what is new has a namespace to be made in.
6. `_clustered`: the cluster of all of them. What depends on nodes comes after it.
7. `_expanded`: the pods that objects make, a DaemonSet's on each node. What may not be created, is there already,
   waits, or goes before others is seen to here and after it, pod by pod, before any claim is.
8. `_claiming`: each pod with its claims, then the claims that no pod uses, and templates where nothing else is asked.
9. `_making`: what quotas let be made, and what admin access is. After claims are known, which count, too.
10. `refused`: what the API server would not take, and names that lead nowhere.
11. `_noted`: notes on how the input was read. Last, when all is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Final

from dra_alloc.cluster.attempts.taking import counts
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.edits.merging import merged
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import ManifestError, Problem, UnknownReference
from dra_alloc.manifest import Documents, Workload
from dra_alloc.manifest.gc_pause import gc_paused
from dra_alloc.manifest.lost import Lost
from dra_alloc.manifest.make.gates import DroppedField
from dra_alloc.pods.claims import ClaimsThere
from dra_alloc.pods.expanding import ExpandedPod, expanded
from dra_alloc.pods.naming import in_namespace, named
from dra_alloc.pods.quota.book import NO_QUOTAS, QuotaBook
from dra_alloc.pods.workloads.plans import Rollout
from dra_alloc.pods.workloads.shapes import Taught
from dra_alloc.scenario.prepare.admin_access import admin_access_problems, of_unknown_namespaces, without_admin_access
from dra_alloc.scenario.prepare.changed_specs import changed_pods, changed_specs
from dra_alloc.scenario.prepare.gating import as_there, gated
from dra_alloc.scenario.prepare.grouping import (
    composite_problems,
    group_faults,
    group_notes,
    group_problems,
    groups_stored,
    unserved_groups,
)
from dra_alloc.scenario.prepare.namespaces import namespace_problems
from dra_alloc.scenario.prepare.notes import notes_on
from dra_alloc.scenario.prepare.quotas import forbidden
from dra_alloc.scenario.prepare.references import KnownNames, reference_problems
from dra_alloc.scenario.prepare.subjects import Subject, subjects_of
from dra_alloc.scenario.prepare.supply import supply_notes, taken_of_nodes


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """
    Manifests and a dump under way to subjects; whatever a later step makes is empty before it.

    `taught` says of kinds that are not known what pods they make.
    `merged` is the dump with the manifests applied, `cluster` the cluster that
    results, `pods` are those that objects ask for, `subjects` the pods with
    their claims, and claims of their own; `rollouts` let older pods go first; `book` has the quotas with these.
    `lacking` are names of fields that were dropped, as their gates are off; `problems` make the input a bad one.
    """

    manifests: Documents
    dump: Documents
    settings: Settings
    namespace: str
    node: str | None = None
    taught: tuple[Taught, ...] = ()
    merged: Documents = field(default_factory=Documents)
    cluster: Cluster = field(default_factory=lambda: Cluster.of(Documents()))
    pods: tuple[ExpandedPod, ...] = ()
    rollouts: tuple[tuple[Workload, Rollout], ...] = ()
    subjects: tuple[Subject, ...] = ()
    book: QuotaBook = NO_QUOTAS
    lacking: tuple[DroppedField, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def lost(self) -> Lost:
        """Return what could not be read; nothing is called missing that may be among it."""
        return self.manifests.lost | self.dump.lost

    @property
    def every_problem(self) -> tuple[Problem, ...]:
        """Return all problems, and whether the node is missing: alone, that is for whoever looks there to say."""
        return (*self.problems, *_missing_node(self))

    def required(self) -> Prepared:
        """
        Return the same, if nothing is wrong with it.

        Raises: ManifestError with everything that is wrong with the manifests' objects, references and selectors.
        """
        if self.problems:
            raise ManifestError(list(self.every_problem))
        return self

    def noting(self, notes: Iterable[str]) -> Prepared:
        """Return the same with more notes."""
        more = tuple(notes)
        return replace(self, notes=(*self.notes, *more)) if more else self

    def wrong(self, problems: Iterable[Problem]) -> Prepared:
        """Return the same with more problems."""
        more = tuple(problems)
        return replace(self, problems=(*self.problems, *more)) if more else self

    def misplaced(self, found: Iterable[tuple[Any, Problem]]) -> Prepared:
        """Return the same with problems of the manifests' objects, each with where it was read."""
        return self.wrong(self.manifests.placed(found))


Step = Callable[[Prepared], Prepared]


def prepare(given: Prepared) -> Prepared:
    """
    Return the manifests applied to the dump, and what they ask of it; with problems instead of an error for bad ones.

    Raises: InputError for settings.
    """
    with gc_paused(settle=True):
        return run(given, STEPS)


def run(prepared: Prepared, steps: Sequence[Step]) -> Prepared:
    """Return what some of the steps, in this order, make of it."""
    return reduce(lambda before, step: step(before), steps, prepared)


def _in_namespace(prepared: Prepared) -> Prepared:
    manifests, dump = (in_namespace(each, prepared.namespace) for each in (prepared.manifests, prepared.dump))
    return replace(prepared, manifests=manifests, dump=dump)


def _named(prepared: Prepared) -> Prepared:
    return replace(prepared, manifests=named(prepared.manifests, prepared.dump))


def _there(prepared: Prepared) -> Prepared:
    prepared = prepared.misplaced(changed_pods(prepared.dump, prepared.manifests))
    manifests, left_out = as_there(prepared.manifests, prepared.dump)
    return replace(prepared, manifests=manifests).noting(left_out)


def stored(prepared: Prepared) -> Prepared:
    """Return it with the manifests as the API server stores them. Spec: GATE-1."""
    manifests, dropped, lacking = gated(prepared.manifests, prepared.settings)
    manifests, ungrouped = groups_stored(manifests, prepared.settings)
    return replace(prepared, manifests=manifests, lacking=lacking).noting((*dropped, *ungrouped))


def _merged(prepared: Prepared) -> Prepared:
    dump, manifests = prepared.dump, prepared.manifests
    changed = changed_specs(dump, manifests, prepared.settings)
    unmade = namespace_problems(manifests, dump, prepared.lost)
    return replace(prepared, merged=merged(dump, manifests)).misplaced((*changed, *unmade))


def _clustered(prepared: Prepared) -> Prepared:
    return replace(prepared, cluster=Cluster.of(prepared.merged, prepared.settings))


def _expanded(prepared: Prepared) -> Prepared:
    made = expanded(prepared.manifests, prepared.dump, prepared.cluster.nodes, prepared.taught)
    settings, dump, manifests = prepared.settings, prepared.dump, prepared.manifests
    seen = (
        *unserved_groups(manifests, settings),
        *group_faults(manifests, (*dump.priority_classes, *manifests.priority_classes)),
        *group_problems(made.pods, dump, settings),
        *composite_problems(made.pods, (*dump.pod_groups, *manifests.pod_groups), settings),
    )
    prepared = (
        replace(prepared, pods=made.pods, rollouts=made.rollouts).misplaced((*made.problems, *seen)).noting(made.notes)
    )
    prepared = prepared.noting(group_notes(made.pods, prepared.settings, prepared.notes))
    before = prepared.merged
    claims = made.claims
    if before.pod_groups:
        there = ClaimsThere.of((*before.claims, *made.claims), before.templates, before.pod_groups)
        claims = (*claims, *there.made_for_groups())
    if not claims:
        return prepared
    with_claims = replace(before, claims=(*before.claims, *claims))
    return replace(prepared, merged=with_claims, cluster=Cluster.of(with_claims, prepared.settings))


def _claiming(prepared: Prepared) -> Prepared:
    found = subjects_of(prepared.pods, prepared.manifests, prepared.merged, prepared.lost)
    return replace(prepared, subjects=found.subjects).misplaced(found.wrong).noting(found.notes)


def _making(prepared: Prepared) -> Prepared:
    asked = [each for each in prepared.pods if each.is_asked]
    given = (prepared.manifests, prepared.dump)
    subjects, book, notes = forbidden(prepared.subjects, asked, given, prepared.cluster)
    wrong = admin_access_problems(prepared.manifests, prepared.dump, prepared.merged)
    allowed = without_admin_access(subjects, prepared.merged)
    return replace(prepared, subjects=allowed, book=book).noting(notes).misplaced(wrong)


def refused(prepared: Prepared) -> Prepared:
    """Return it with what the API server would refuse, if not told yet, and classes that are neither there nor lost."""
    lost, settings = prepared.lost, prepared.settings
    may_be_any = lost.may_hold_any("DeviceClass")
    known = KnownNames(settings, None if may_be_any else prepared.cluster.classes.keys() | lost.of("DeviceClass"))
    told = {(each.where, each.message) for each in prepared.problems}
    found = reference_problems(prepared.manifests, known)
    return prepared.wrong([each for each in found if (each.where, each.message) not in told])


def needing(prepared: Prepared) -> Prepared:
    """Return it without subjects that need no devices, for questions about devices alone."""
    asking = tuple(each for each in prepared.subjects if each.needs_devices)
    idle = len(prepared.subjects) - len(asking)
    skipped = [f"{idle} pod{'s need' if idle > 1 else ' needs'} no devices, left out"] if idle else []
    taken = taken_of_nodes(prepared.cluster, pods_asked=False) if counts(prepared.cluster) else ()
    return replace(prepared, subjects=asking).noting([*skipped, *taken])


def _noted(prepared: Prepared) -> Prepared:
    manifests, dump = prepared.manifests, prepared.dump
    notes = (*notes_on(manifests, dump, prepared.cluster), *supply_notes(prepared.subjects, prepared.cluster))
    return prepared.noting((*notes, *of_unknown_namespaces(manifests, prepared.merged)))


#: What is done to documents, in order.
STEPS: Final[tuple[Step, ...]] = (
    _in_namespace,
    _named,
    _there,
    stored,
    _merged,
    _clustered,
    _expanded,
    _claiming,
    _making,
    refused,
    _noted,
)


def _missing_node(prepared: Prepared) -> tuple[Problem, ...]:
    node, lost = prepared.node, prepared.lost
    if node is None or lost.may_hold_any("Node") or node in lost.of("Node"):
        return ()
    # Without Node objects nodes are those that slices name.
    if not prepared.merged.nodes and (lost.may_hold_any("ResourceSlice") or lost.of("ResourceSlice")):
        return ()
    try:
        prepared.cluster.node(node)
    except UnknownReference as error:
        return (Problem(error.message, hint=error.hint),)
    return ()
