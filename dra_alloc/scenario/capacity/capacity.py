"""
How many more nodes, and of which shapes, make everything fit that is there and that is applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from dra_alloc.cluster.edits.cluster_state import ClusterState
from dra_alloc.cluster.edits.nodes import new_names, with_nodes
from dra_alloc.errors import first_few
from dra_alloc.limits import DEFAULT_MOST_NODES, DEFAULT_NODE_TRIES
from dra_alloc.scenario.answers import CheckOptions
from dra_alloc.scenario.capacity.autoscalers import autoscaler_notes
from dra_alloc.scenario.capacity.copies import copied, copies_that_fit
from dra_alloc.scenario.capacity.search import Numbers, Purchase, cheapest
from dra_alloc.scenario.capacity.shapes import NodeShape
from dra_alloc.scenario.what_if.asking import OneSide, asked
from dra_alloc.scenario.what_if.made_anew import MadeAnew
from dra_alloc.scenario.what_if.pod_counts import WorkloadName
from dra_alloc.scenario.what_if.quotas import relieved
from dra_alloc.work import ran_out

#: Kinds of nodes that are looked at, those with most nodes first.
MOST_SHAPES: Final = 16


@dataclass(frozen=True, slots=True)
class CapacityOptions:
    """
    How to check, which shapes can be bought, at most how many nodes of each, and how many numbers of them are tried.

    What is `unpriced` could not be bought, and is told.
    """

    shapes: Sequence[NodeShape]
    checking: CheckOptions
    most: int = DEFAULT_MOST_NODES
    tries: int = DEFAULT_NODE_TRIES
    unpriced: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class CopiesFit:
    """
    How many copies of a subject fit as things are, and how many more with one more node like which.

    If not `sure`, the budget ran out before all were judged.
    """

    subject: WorkloadName
    now: int
    more: Mapping[str, int]
    sure: bool = True


class Outlook(StrEnum):
    """What becomes of a workload that does not fit as things are."""

    HELPED = "would fit with more nodes"
    LIMITED = "does not fit with as many nodes as were tried"
    HOPELESS = "does not fit, with more nodes neither"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Capacity:
    """
    What fits as things are, and what to buy for the rest.

    `now` and `after` are what becomes of all workloads without and with what
    is `found`; `after` is None where nothing is to be bought or nothing helps.
    With `undecided` the budget ran out before some pods were judged, so that
    what was found may not be the best.
    `most` is how many nodes of each shape were added at most, `limited` that
    they were fewer than pods lack a place; `tried` is how many numbers of them.
    """

    now: OneSide
    after: OneSide | None
    shapes: tuple[NodeShape, ...]
    found: Purchase
    undecided: bool = False
    most: int = 0
    limited: bool = False
    tried: int = 0
    copies: CopiesFit | None = None
    notes: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether everything fits as things are."""
        return not self.lacking

    @property
    def proven(self) -> bool:
        """Whether nothing cheaper than what was found is enough."""
        return self.found.proven and not self.undecided

    @property
    def lacking(self) -> Mapping[WorkloadName, frozenset[str]]:
        """Pods that find no place as things are, by workload."""
        return _lacking(self.now)

    @property
    def bought(self) -> Mapping[str, int]:
        """How many nodes to add like which."""
        numbers = self.found.numbers or ()
        return {shape.name: number for shape, number in zip(self.shapes, numbers, strict=False) if number}

    @property
    def hopeless(self) -> Mapping[WorkloadName, frozenset[str]]:
        """Pods that find no place with any number of nodes that was tried, by workload."""
        return _lacking(self.now if self.after is None else self.after)

    def outlook(self, name: WorkloadName) -> Outlook:
        """Return what becomes of a workload that lacks places."""
        if self.undecided and (name in self.hopeless or self.found.numbers is None):
            return Outlook.UNDECIDED
        if name not in self.hopeless:
            return Outlook.HELPED
        return Outlook.LIMITED if self.limited else Outlook.HOPELESS


def capacity(before: ClusterState, after: ClusterState, options: CapacityOptions) -> Capacity:
    """
    Return what fits in the state after a change, and the cheapest nodes that make the rest fit.

    What no number of nodes helps is left out of the question. Each number of
    nodes is asked as `what_if` asks one side.

    Spec: ADDED-1, ADDED-3.
    Raises: as :func:`check` does.
    """
    made = MadeAnew.of(before, after)
    after = relieved(before, after)

    def ask(state: ClusterState, *, reasons: bool = False) -> OneSide:
        return asked(state, made.pods, made.evicted, replace(options.checking, reasons=reasons))

    shapes = tuple(options.shapes[:MOST_SHAPES])
    buying = _Buying(after, shapes, ask)
    now = ask(after, reasons=True)
    buying.notice(now)
    found = Capacity(now, None, shapes, Purchase(None))
    if found.lacking and shapes:
        found = _buy(found, buying, options)
        if found.found.numbers is not None:
            after_buying = ask(buying.state(found.found.numbers), reasons=True)
            buying.notice(after_buying)
            found = replace(found, after=after_buying)
    copies = _copies(buying, ask)
    skipped = len(options.shapes) - len(shapes)
    return replace(
        found,
        undecided=buying.undecided or (copies is not None and not copies.sure),
        tried=buying.tried,
        copies=copies,
        notes=tuple(
            dict.fromkeys(
                [
                    *made.notes(),
                    *now.notes,
                    *_gone(made, now),
                    *autoscaler_notes(after),
                    *_unpriced(options.unpriced),
                    *([f"kinds of nodes that are not looked at, name one with --like: {skipped}"] if skipped else ()),
                    *ran_out(),
                ]
            )
        ),
    )


def _buy(found: Capacity, buying: _Buying, options: CapacityOptions) -> Capacity:
    """Return the answer with what to buy, for those that more nodes help at all."""
    lacking = sum(map(len, found.lacking.values()))
    most = min(options.most, lacking)
    every = tuple(most for _ in buying.shapes)
    hopeless = buying.lacking(every)
    found = replace(found, most=most, limited=most < lacking)
    if _within(found.lacking, hopeless):
        return found
    prices = [each.price for each in buying.shapes]
    best = cheapest(lambda numbers: _within(buying.lacking(numbers), hopeless), prices, every, options.tries)
    return replace(found, found=best)


def _gone(made: MadeAnew, now: OneSide) -> Iterator[str]:
    """Yield who lost pods that nobody makes anew."""
    gone = [name.name for name in made.evicted if name not in now.counts]
    if gone:
        yield f"gone for good, and so not asked: {first_few(gone)}"


def _unpriced(names: Sequence[str]) -> Iterator[str]:
    """Yield which kinds have no price, where others have one."""
    if names:
        yield f"no price is for nodes like {first_few(names)}: none of them are added"


def _copies(buying: _Buying, ask: Callable[[ClusterState], OneSide]) -> CopiesFit | None:
    """Return how many copies fit of what is asked for, if that is one thing."""
    there = buying.state(tuple(0 for _ in buying.shapes))
    what = copied(there.manifests)
    if what is None:
        return None
    now, sure = copies_that_fit(what, there, ask)
    more = {}
    for place, shape in enumerate(buying.shapes):
        number, known = copies_that_fit(what, buying.state(_one(place, len(buying.shapes))), ask)
        more[shape.name] = number - now
        sure = sure and known
    return CopiesFit(WorkloadName(what.kind, what.name), now, more, sure)


def _one(place: int, places: int) -> Numbers:
    return tuple(int(each == place) for each in range(places))


_Lacking = Mapping[WorkloadName, frozenset[str]]


class _Buying:
    """A cluster with more nodes; what was asked is remembered."""

    def __init__(
        self, there: ClusterState, shapes: Sequence[NodeShape], ask: Callable[[ClusterState], OneSide]
    ) -> None:
        self._there = there
        self.shapes = tuple(shapes)
        self._ask = ask
        self._said: dict[Numbers, _Lacking] = {}
        self.undecided = False

    @property
    def tried(self) -> int:
        """How many numbers of nodes were asked."""
        return len(self._said)

    def state(self, numbers: Numbers) -> ClusterState:
        """Return the cluster with so many more nodes of each shape."""
        state = self._there
        for shape, number in zip(self.shapes, numbers, strict=True):
            state = with_nodes(state, shape.like, new_names(shape.name, number, state))
        return state

    def notice(self, side: OneSide) -> None:
        """Note whether an answer left something undecided."""
        self.undecided = self.undecided or any(each.undecided for each in side.counts.values())

    def lacking(self, numbers: Numbers) -> _Lacking:
        """Return who has no place with so many more nodes."""
        if numbers not in self._said:
            side = self._ask(self.state(numbers))
            self.notice(side)
            self._said[numbers] = _lacking(side)
        return self._said[numbers]


def _lacking(side: OneSide) -> _Lacking:
    found = {
        name: frozenset(each.name for each in (*count.refused, *count.undecided)) for name, count in side.counts.items()
    }
    return {name: pods for name, pods in found.items() if pods}


def _within(lacking: _Lacking, hopeless: _Lacking) -> bool:
    """Say whether nobody lacks a place but those who always do; copies of a pod are as good as each other."""
    return all(len(pods) <= len(hopeless.get(name, ())) for name, pods in lacking.items())
