"""
The best node for claims by a list of objectives, with the devices that make it so.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.alike_nodes import AlikeNodes
from dra_alloc.cluster.holding import completed
from dra_alloc.cluster.outcomes import Allocated
from dra_alloc.problem.pools import GatherError
from dra_alloc.solve.best.answer import best_answer
from dra_alloc.solve.best.objectives import Objective
from dra_alloc.solve.best.optimise import Score
from dra_alloc.solve.ladder import Budget
from dra_alloc.solve.outcome import OutOfBudget, Solved

if TYPE_CHECKING:
    from dra_alloc.cluster.cluster import Cluster

#: Nodes of different kinds that are compared.
MOST_COMPARED: Final = 200


@dataclass(frozen=True, slots=True, eq=False)
class BestWanted:
    """
    What to make best: claims, which may depend on the node, by objectives.

    `budget.solver` is shared by all nodes.
    """

    claims: Callable[[Node], Sequence[ResourceClaim]]
    objectives: Sequence[Objective]
    budget: Budget
    same_everywhere: bool = True


def best_place(cluster: Cluster, wanted: BestWanted, nodes: Sequence[Node]) -> Allocated | None:
    """
    Return the best of the answers on these nodes, the first of equals; None if none of them has one.

    `cluster` is asked with intended semantics. Nodes that nothing tells apart
    are looked at once.

    Spec: OPTIMUM-1, OPTIMUM-4.
    Raises: EngineUnavailable.
    """
    groups = _groups(cluster, wanted, nodes)
    looked = groups[:MOST_COMPARED]
    doubt = "" if looked == groups else f"only {MOST_COMPARED} kinds of nodes were compared"
    left = wanted.budget.solver
    answers: list[tuple[Node, Solved, tuple[Score, ...]]] = []
    for number, node in enumerate(looked):
        name = node.metadata.name or ""
        pending = [claim for claim in wanted.claims(node) if claim.status.allocation is None]
        budget = replace(wanted.budget, solver=left / (len(looked) - number))
        outcome, scores = best_answer(cluster.known.allocator, node, pending, wanted.objectives, budget)
        if not isinstance(outcome, Solved):
            doubt = doubt or (f"{name} is undecided" if isinstance(outcome, OutOfBudget) else "")
            continue
        left = max(left - sum(stage.work for stage in outcome.work.stages if stage.engine == "cp-sat"), 0.0)
        answers.append((node, outcome, scores))
        if not any(score.value for score in scores):
            # Nothing is below 0.
            doubt = ""
            break
    if not answers:
        return None
    node, solved, scores = min(answers, key=lambda each: [score.value for score in each[2]])
    claims = tuple(wanted.claims(node))
    told = combined(scores, [each for _, _, each in answers], doubt)
    return Allocated(node.metadata.name or "", lambda: completed(claims, solved.results), solved.work, told)


def _groups(cluster: Cluster, wanted: BestWanted, nodes: Sequence[Node]) -> list[Node]:
    """Return the first of all nodes that are alike, in order."""
    if not wanted.same_everywhere or not nodes:
        return list(nodes)
    pending = [claim for claim in wanted.claims(nodes[0]) if claim.status.allocation is None]
    alike = AlikeNodes(cluster.known.allocator, pending)
    first: dict[Hashable, Node] = {}
    for node in nodes:
        first.setdefault((alike.key(node), seen(cluster, wanted.objectives, node)), node)
    return list(first.values())


def seen(cluster: Cluster, objectives: Sequence[Objective], node: Node) -> Hashable:
    """Return what the objectives see of a node."""
    try:
        pools = cluster.known.survey.pools(node)
    except GatherError:
        return node.metadata.name
    devices = [device for pool in pools if pool.usable for device in pool.devices]
    return tuple(objective.sees(node, devices) for objective in objectives)


def combined(best: Sequence[Score], answers: Sequence[Sequence[Score]], doubt: str) -> tuple[Score, ...]:
    """
    Return the best scores with bounds that hold for all answers.

    `doubt` says why there may be answers that are not known; empty if there are none.
    """
    known = not doubt
    rivals = list(answers)
    combined = []
    for number, score in enumerate(best):
        bound = min(each[number].bound for each in rivals) if known else 0
        why = score.why or doubt
        proven = bound >= score.value
        combined.append(Score(score.objective, score.value, min(bound, score.value), "" if proven else why))
        # A node whose least value is not known could draw level, and then be better by the next objective.
        known = known and proven and not any(each[number].bound <= score.value < each[number].value for each in rivals)
        rivals = [each for each in rivals if each[number].value == score.value]
    return tuple(combined)
