"""
What is known of a cluster, carried over to one that differs in a few objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dra_alloc.api import AllocationResult, ResourceClaim
from dra_alloc.cluster.contents import Contents
from dra_alloc.cluster.edits.digests import Digests
from dra_alloc.cluster.edits.edit import Edit
from dra_alloc.cluster.known import Asking, Known
from dra_alloc.cluster.standings import concerned
from dra_alloc.problem.devices import PoolKey


def carried(before: Known, contents: Contents, edit: Edit, pools: frozenset[PoolKey] | None) -> Known:
    """
    Return the contents after an edit with what need not be found out again.

    `pools` are those whose slices differ; None if that may be all.
    """
    was, had = before.contents, before.parts.now()
    after = Known(contents)
    known = after.parts
    known.roster = had.roster if contents.nodes is was.nodes else None
    known.class_by_resource = None if edit.classes else had.class_by_resource
    known.digests = None if had.digests is None else _digests(had.digests, was, contents, edit)
    if had.survey is None or pools is None:
        return after
    survey = had.survey.changed(contents.inventory, pools) if pools else had.survey
    known.survey = survey = survey.with_classes(contents.classes) if edit.classes else survey
    touched = set(pools)
    known.ledger = had.ledger
    if edit.claims and (had.ledger is not None or had.occupancy is not None):
        known.ledger, keys = before.ledger.changed(
            _allocations((name, was.claims.get(name)) for name in edit.claims), _allocations(edit.claims.items())
        )
        touched |= {PoolKey(key.driver, key.pool) for key in keys}
    if had.occupancy is None:
        return after
    old, new = ([row for key in touched for row in each.inventory.by_pool.get(key, ())] for each in (was, contents))
    known.occupancy = had.occupancy.changed(old, new, None if known.ledger is None else known.ledger.usage)
    if had.standings is not None and known.roster is not None and not edit.classes:
        places = concerned(touched, (was.inventory, contents.inventory), known.roster)
        if (survey.broken, survey.unfinished) != (had.survey.broken, had.survey.unfinished):
            places = None
        known.standings = had.standings.forked(survey, known.occupancy, Asking(after), places)
    return after


def _allocations(claims: Iterable[tuple[str, ResourceClaim | None]]) -> Iterator[tuple[str, AllocationResult]]:
    for name, claim in claims:
        if claim is not None and claim.status.allocation is not None:
            yield name, claim.status.allocation


def _digests(known: Digests, before: Contents, after: Contents, edit: Edit) -> Digests:
    old: list[object] = [before.inventory.find(name) for name in edit.slices]
    old = [getattr(row, "wire", None) for row in old]
    old += [before.claims.get(name) for name in edit.claims]
    old += [before.classes.get(name) for name in edit.classes]
    rules = {rule.metadata.name or "": rule for rule in before.inventory.taint_rules} if edit.taint_rules else {}
    old += [rules.get(name) for name in edit.taint_rules]
    members = (edit.slices, edit.claims, edit.classes, edit.taint_rules)
    new: list[object] = [each for member in members for each in member.values()]
    if before.implied or after.implied:
        same = after.nodes is before.nodes
        old += () if same else before.nodes
        new += () if same else after.nodes
    elif edit.nodes:
        nodes = {node.metadata.name or "": node for node in before.nodes}
        old += [nodes.get(name) for name in edit.nodes]
        new += edit.nodes.values()
    return known.changed(old, new)
