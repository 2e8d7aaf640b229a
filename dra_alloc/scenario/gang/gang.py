"""
Several pods at once: a gang over many nodes, all or nothing; replicas; as many as possible.

Each question is answered twice: as kube-scheduler goes, pod by pod, each on
the first node that has what it wants; and jointly, which finds a placement
whenever there is one. Where the two differ, the order cost something.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.arguments import objectives_in, objects_in
from dra_alloc.cluster.best_place import combined
from dra_alloc.cluster.cluster import Cluster
from dra_alloc.cluster.defaulting import defaulted
from dra_alloc.errors import InputError
from dra_alloc.problem.requests import claim_name
from dra_alloc.scenario.gang.best import pack_best
from dra_alloc.scenario.gang.books import Books
from dra_alloc.scenario.gang.greedy import place_in_order, place_together
from dra_alloc.scenario.gang.menus import Menus, Shapes, TooMuchWork
from dra_alloc.scenario.gang.packing import NodePrice, Packed, pack
from dra_alloc.scenario.gang.shared_pools import place_sharing
from dra_alloc.scenario.gang.types import Gang, Member, Placement, Topology, Verdict
from dra_alloc.solve.best.objectives import FewestNodes, Objective, Stable
from dra_alloc.solve.best.optimise import Score
from dra_alloc.work import BudgetExhausted, sparing

#: Copies of one template that are tried on a node at most.
MOST_COPIES: Final = 1_000
#: Copies that can be asked for: as many as a workload's replicas in a check.
MOST_WANTED: Final = 10_000
_FEWER: Final = f"ask for at most {MOST_WANTED:,}, or for as many as fit: --copies 0, `replicas` without a number"


def fewest_nodes(node: Node) -> int:
    """The price that makes a cheapest placement one with the fewest nodes."""
    return 1


@dataclass(frozen=True, slots=True)
class GangAnswers:
    """The same question answered in the scheduler's order and jointly."""

    greedy: Gang
    joint: Gang

    @property
    def lost_by_order(self) -> bool:
        """Return whether the scheduler's order is known to leave out pods that a joint placement would have placed."""
        decided = self.greedy.proven and self.greedy.verdict is not Verdict.UNDECIDED
        return decided and len(self.joint.placements) > len(self.greedy.placements)


def place_gang(
    cluster: Cluster,
    members: Sequence[Member],
    topology: Topology | None = None,
    price: NodePrice | None = None,
    objectives: Sequence[Objective] = (),
) -> GangAnswers:
    """
    Return where all members can be placed together; a gang is placed as a whole or not at all.

    With a topology label all nodes used have the same value of it, or should
    have where that is possible. Nodes without the label then have no part.
    With a price for each node used the joint placement is one of the cheapest,
    with objectives one of the best by the first, the next breaking ties.

    Spec: GANG-1, GANG-2, GANG-3, GANG-6, GANG-7.
    Raises: InputError for what are no members, objectives or topology; EngineUnavailable for objectives without
    OR-tools.
    """
    members, objectives = _asked(members, objectives)
    if topology is not None and not isinstance(topology, Topology):
        raise InputError(f"topology is a {type(topology).__name__}, not a Topology", hint='Topology("zone")')
    if objectives == (FewestNodes(),):
        return _scored_by_nodes(place_gang(cluster, members, topology, fewest_nodes))
    with sparing():
        greedy = _greedy(cluster, members, topology)
    choosy = price is not None or bool(objectives)
    if len(greedy.placements) == len(members) and not choosy:
        return GangAnswers(greedy, greedy)
    question = _Joint(cluster, members, objectives)
    found: list[Gang] = []
    best = Gang(Verdict.NONE, ())
    for nodes in _domains(cluster, topology):
        spread = topology is not None and len(nodes) == len(cluster.nodes)
        if len(best.placements) == len(members) and (spread or not choosy):
            break
        found.append(question.ask(nodes, price))
        best = _better(best, found[-1], price, cluster) if len(found) > 1 else found[-1]
    if price is not None and not all(each.proven and each.verdict is not Verdict.UNDECIDED for each in found):
        best = replace(best, proven=False)
    return GangAnswers(_whole(greedy, members), _whole(_against(found, best), members))


def _against(found: Sequence[Gang], best: Gang) -> Gang:
    """Return the best gang with scores that hold for all values of a topology label."""
    if not best.scores:
        return best
    doubt = next((each.why for each in found if each.verdict is Verdict.UNDECIDED), "")
    rivals = [each.scores for each in found if each.scores and len(each.placements) == len(best.placements)]
    return replace(best, scores=combined(best.scores, rivals, doubt))


def _scored_by_nodes(answers: GangAnswers) -> GangAnswers:
    joint = answers.joint
    if not joint.placements:
        return answers
    used = len(joint.nodes)
    score = Score(FewestNodes.name, used, used if joint.proven else 0)
    return replace(answers, joint=replace(joint, scores=(score,)))


def _better(one: Gang, other: Gang, price: NodePrice | None, cluster: Cluster) -> Gang:
    """Return the gang with more members, then the cheaper one, then the first; undecided counts as something."""

    def rank(gang: Gang) -> tuple[int, int, list[int], bool]:
        names = set(gang.nodes)
        cost = sum(price(node) for node in cluster.nodes if node.metadata.name in names) if price else 0
        return len(gang.placements), -cost, [-each.value for each in gang.scores], gang.verdict is not Verdict.NONE

    return other if rank(other) > rank(one) else one


def place_most(cluster: Cluster, members: Sequence[Member], objectives: Sequence[Objective] = ()) -> GangAnswers:
    """
    Return a placement of as many members as possible, among those one of the best by the objectives.

    Spec: GANG-4, GANG-7.
    Raises: InputError for what are no members or objectives; EngineUnavailable for objectives without OR-tools.
    """
    members, objectives = _asked(members, objectives)
    with sparing():
        greedy = place_in_order(Books(cluster.known.allocator), cluster.nodes, members)
    if len(greedy.placements) == len(members) and not objectives:
        return GangAnswers(greedy, greedy)
    return GangAnswers(greedy, _Joint(cluster, members, objectives).ask(cluster.nodes, most=True))


def can_place(cluster: Cluster, members: Sequence[Member]) -> Verdict:
    """
    Return whether all members can be placed together, without saying where.

    Spec: GANG-2.
    """
    members, _ = _asked(members, ())
    return _Joint(cluster, members).can()


def _asked(
    members: Sequence[Member], objectives: Sequence[Objective]
) -> tuple[tuple[Member, ...], tuple[Objective, ...]]:
    """Return what is asked for. Raises: InputError for what is no member or objective."""
    return (
        tuple(objects_in(members, "members", Member, "Member")),
        tuple(objectives_in(objectives, Objective)),
    )


def replicas(
    cluster: Cluster,
    claims: Sequence[ResourceClaim],
    wanted: int | None = None,
    objectives: Sequence[Objective] = (),
) -> GangAnswers:
    """
    Return how many pods fit that each want claims like these, up to `wanted`, or to 1,000 where that is None.

    Spec: GANG-4.
    Raises: InputError for more than 10,000 or fewer than none; EngineUnavailable for objectives without OR-tools.
    """
    if wanted is not None and not isinstance(wanted, int):
        raise InputError(f"wanted takes a whole number or None, not {wanted!r:.40}")
    if wanted is not None and wanted < 0:
        raise InputError(f"wanted is {wanted}: has to be at least 0")
    if wanted is not None and wanted > MOST_WANTED:
        raise InputError(f"{wanted:,} copies are more than the {MOST_WANTED:,} that are looked at", hint=_FEWER)
    count = MOST_COPIES if wanted is None else wanted
    # Completed once, so that all copies are seen to want the same without a look into them.
    wants = tuple(defaulted(objects_in(claims, "claims", ResourceClaim, "ResourceClaim")))
    answers = place_most(cluster, [Member(f"replica-{number}", wants) for number in range(count)], objectives)
    if wanted is None and len(answers.joint.placements) == count:
        why = f"more than {count:,} copies are not looked at unless a number is given"
        return replace(answers, joint=replace(answers.joint, proven=False, why=why))
    return answers


def _domains(cluster: Cluster, topology: Topology | None) -> list[tuple[Node, ...]]:
    """Return the sets of nodes to try, in the order of their first node."""
    if topology is None:
        return [cluster.nodes]
    domains: dict[str, list[Node]] = {}
    for node in cluster.nodes:
        value = node.metadata.labels.get(topology.label)
        if value is not None:
            domains.setdefault(value, []).append(node)
    sets = [tuple(nodes) for nodes in domains.values()]
    return sets if topology.must else [*sets, cluster.nodes]


def _greedy(cluster: Cluster, members: Sequence[Member], topology: Topology | None) -> Gang:
    """Place in order; the first domain that takes all is used, else the one that takes most."""
    best = Gang(Verdict.NONE, ())
    doubt = ""
    for nodes in _domains(cluster, topology):
        gang = place_in_order(Books(cluster.known.allocator), nodes, members)
        if len(gang.placements) == len(members):
            return gang
        doubt = doubt or ("" if gang.proven else gang.why)
        best = max(best, gang, key=lambda each: len(each.placements))
    return replace(best, why=doubt, proven=False) if doubt else best


def _whole(gang: Gang, members: Sequence[Member]) -> Gang:
    """Return the gang, or none of it if members are missing; undecided if more of them might be possible."""
    if len(gang.placements) == len(members) or gang.verdict is Verdict.UNDECIDED:
        return gang
    if not gang.proven:
        return Gang(Verdict.UNDECIDED, (), gang.why)
    count = len(gang.placements)
    placed = f"only {count} would find a node, and all have to" if count else ""
    return Gang(Verdict.NONE, (), gang.why or placed)


def _reached(wanted: Sequence[Score], reached: Sequence[Sequence[Score]]) -> tuple[Score, ...]:
    """Return the scores that were reached; nodes that share pools may not all have what is best for each of them."""
    values = [sum(each.value for each in scores) for scores in zip(*reached, strict=True)]
    if not reached or values == [each.value for each in wanted]:
        return tuple(wanted)
    return tuple(
        Score(each.objective, value, min(each.bound, value) if number == 0 else 0, "nodes share pools")
        for number, (each, value) in enumerate(zip(wanted, values, strict=True))
    )


#: Why it is not known whether more pods could be placed.
_SEEN_TWICE: Final = "pods with admin access can have devices of each other, which is not tried"


def _oversees(member: Member) -> bool:
    """Return whether a pod asks for devices with admin access."""
    requests = (each for claim in member.claims for each in claim.spec.devices.requests)
    return any(each.exactly is not None and bool(each.exactly.admin_access) for each in requests)


class _Joint:
    """
    Joint placements with intended semantics.

    Nodes are first looked at one by one, as if none shared a pool with
    another. What is impossible then is impossible; what is possible is
    placed node by node, and that can only fail if pools are shared: then
    all of them are asked about at once.
    """

    def __init__(self, cluster: Cluster, members: Sequence[Member], objectives: Sequence[Objective] = ()) -> None:
        self._cluster = cluster.intended
        self._objectives = tuple(objectives)
        self._shapes = Shapes.of(members, self._has_previous)
        self._menus = Menus(self._cluster, self._shapes)

    def ask(self, nodes: Sequence[Node], price: NodePrice | None = None, *, most: bool = False) -> Gang:
        """Return the placement on these nodes; members may be missing."""
        try:
            found = self._one_by_one(nodes, price, most=most) or self._all_at_once(nodes, price, most=most)
            return self._doubted(found, nodes)
        except (TooMuchWork, BudgetExhausted) as reason:
            return Gang(Verdict.UNDECIDED, (), str(reason))

    def _one_by_one(self, nodes: Sequence[Node], price: NodePrice | None, *, most: bool) -> Gang | None:
        """Return the placement found node by node; None if the nodes share too much for that."""
        try:
            if self._objectives:
                packed = pack_best(self._cluster, self._menus, nodes, self._objectives, most=most)
            else:
                packed = pack(self._menus, nodes, self._shapes.demand, price=price, most=most)
            return self._placed(packed) if packed.complete or most else Gang(Verdict.NONE, (), self._menus.why)
        except TooMuchWork:
            if self._objectives or not self._cluster.inventory.nodes_share:
                raise
            return None

    def _all_at_once(self, nodes: Sequence[Node], price: NodePrice | None, *, most: bool) -> Gang:
        """Return the placement found by one question about all nodes."""
        if self._objectives:
            raise TooMuchWork(
                "nodes share pools, and what is best for each of them does not fit together; without objectives it can "
                "be decided whether all fit"
            )
        gang = place_sharing(self._cluster, nodes, self._shapes.all, most=most)
        # The prices of nodes were not asked about.
        return replace(gang, proven=gang.proven and price is None)

    def can(self) -> Verdict:
        """Return whether all members can be placed on the nodes."""
        if self._cluster.inventory.nodes_share:
            # Only trying it out shows that it works.
            return self.ask(self._cluster.nodes).verdict
        try:
            packed = pack(self._menus, self._cluster.nodes, self._shapes.demand)
            if packed.complete:
                return Verdict.PLACED
            return self._doubted(Gang(Verdict.NONE, ()), self._cluster.nodes).verdict
        except (TooMuchWork, BudgetExhausted):
            return Verdict.UNDECIDED

    def _doubted(self, gang: Gang, nodes: Sequence[Node]) -> Gang:
        """Return a gang of which members are missing as undecided where two with admin access could have one device."""
        members, groups = self._shapes.all, self._shapes.members
        if len(gang.placements) == len(members) or len(members) == 1 or not any(map(_oversees, members)):
            return gang
        one_each = [tuple(int(shape == other) for other in range(len(groups))) for shape in range(len(groups))]
        if not all(any(self._menus.takes(node, one) for node in nodes) for one in one_each):
            return gang
        verdict = gang.verdict if gang.placements else Verdict.UNDECIDED
        return replace(gang, verdict=verdict, why=_SEEN_TWICE, proven=False)

    def _placed(self, packed: Packed) -> Gang | None:
        """
        Return the placement that counts of pods per node stand for: earlier pods on earlier nodes.

        None if nodes share pools, and what each of them could take does not fit together.
        """
        waiting = [iter(group) for group in self._shapes.members]
        placements: list[Placement] = []
        books = Books(self._cluster.known.allocator)
        reached: list[tuple[Score, ...]] = []
        for node, counts in packed.counts:
            here = [next(waiting[shape]) for shape, count in enumerate(counts) for _ in range(count)]
            placed, scores = place_together(books, node, here, self._objectives)
            if not placed:
                return None
            placements += placed
            reached.append(scores)
        order = {member: number for number, member in enumerate(self._shapes.all)}
        placements.sort(key=lambda placement: order[placement.member])
        return Gang(
            Verdict.PLACED if placements else Verdict.NONE,
            tuple(placements),
            proven=packed.proven,
            scores=_reached(packed.scores, reached),
        )

    def _has_previous(self, member: Member) -> bool:
        """Return whether the member had something before, so that no other can stand in for it."""
        names = [claim_name(claim) for claim in member.claims]
        return any(isinstance(each, Stable) and bool(each.wanted(names)) for each in self._objectives)
