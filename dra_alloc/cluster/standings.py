"""
Which nodes of a cluster fit, question by question, found out as far as somebody asks.

For every question there is one byte a node. A change of the cluster makes the
bytes of the nodes concerned unknown again; all others stay.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.lone_slices import LoneSlices
from dra_alloc.cluster.outcomes import NodeRefusal, Unsatisfiable
from dra_alloc.problem.devices import PoolKey, SliceRow
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.pools import GatherError
from dra_alloc.problem.requests import claim_name
from dra_alloc.solve.direct import STEPS, Answer, Occupied, alone, decide
from dra_alloc.solve.ladder import Budget
from dra_alloc.solve.masks.board import BoardAnswer
from dra_alloc.solve.outcome import Aborted, NoFit, OutOfBudget, Solved, SolveOutcome
from dra_alloc.solve.survey import Survey
from dra_alloc.solve.views import Admitted
from dra_alloc.work import BudgetExhausted, cuts, finishing

NO: Final = 0
FITS: Final = 1
UNKNOWN: Final = 2
UNDECIDED: Final = 3
ABORTS: Final = 4
#: No, as a search found that need not say so again when less is free; with an error of its own.
SEARCHED_NO: Final = 5
FAILS: Final = 6
#: Undecided for want of the command's work: said of this question, never kept.
_CUT_SHORT: Final = 7
_REFUSED: Final = (NO, SEARCHED_NO, FAILS)

#: What is left of an answer when devices are taken: a plain no.
_AFTER_TAKING: Final = bytes(NO if code == NO else UNKNOWN for code in range(256))
#: Questions remembered.
_MOST_QUESTIONS: Final = 64
_CARRIED_BYTES: Final = 1 << 20
#: Errors remembered; what others say is asked again.
_MOST_ERRORS: Final = 1_000


class Answering(Protocol):
    """Who answers for single nodes: directly, or else with a search; `shared` where all there is is shared devices."""

    def directly(self, node: Node, admitted: Admitted | None, budget: Budget) -> Answer | None: ...

    def ask(self, node: Node, claims: Sequence[ResourceClaim], budget: Budget) -> SolveOutcome: ...

    def shared(self, admitted: Admitted) -> Callable[[SliceRow], BoardAnswer | None]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """
    Claims to allocate together, none of which is allocated yet.

    Questions of equal `key` have the same answers, apart from names.
    """

    claims: tuple[ResourceClaim, ...]
    admitted: Admitted | None
    budget: Budget
    key: Hashable

    @classmethod
    def of(cls, claims: Sequence[ResourceClaim], survey: Survey, budget: Budget) -> Asked:
        """Return the claims as a question."""
        admitted = survey.admitted(claims) if claims else None
        about: Hashable = tuple([claim.spec for claim in claims]) if admitted is None else admitted.plan or admitted
        return cls(tuple(claims), admitted, budget, (about, budget))


class Roster:
    """The nodes in order, with their names and places."""

    __slots__ = ("names", "nodes", "places")

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = tuple(nodes)
        self.names = tuple([node.metadata.name or "" for node in nodes])
        self.places: dict[str, int] = {}
        for place, name in enumerate(self.names):
            self.places.setdefault(name, place)


class Standings:
    """
    Answers for the nodes of one state of a cluster.

    Answers are found on first use and kept; safe to use from several threads
    as long as nobody takes devices.
    """

    def __init__(self, roster: Roster, survey: Survey, occupancy: Occupied, answering: Answering) -> None:
        self.roster = roster
        self.survey = survey
        self._occupancy = occupancy
        self._answering = answering
        self._codes: dict[Hashable, bytearray] = {}
        # The errors that nodes ended a question with, code and text, until something changes; texts have names in them.
        self._errors: dict[Hashable, tuple[str, str]] = {}
        # Refusals of nodes that say nothing of the claims, by the node's place and its code.
        self._plain: dict[tuple[int, int], NodeRefusal] = {}
        # The standings that this state started from, which learn what is found out about nodes that did not change.
        self._origin: Standings | None = None
        self._touched: set[int] = set()
        self._alone: LoneSlices | None = None

    def first(self, asked: Asked, start: int = 0) -> tuple[int, int]:
        """
        Return the first node from `start` on that fits or ends the attempt, with its code.

        (-1, NO) if there is none.
        """
        codes = self._codes_for(asked)
        # In this order, and once more after exploring: what other threads find out meanwhile counts as well.
        unknown = codes.find(UNKNOWN, start)
        known = _lower(codes.find(FITS, start), codes.find(ABORTS, start))
        if unknown >= 0 and not 0 <= known < unknown:
            self._explore(asked, codes, unknown, stop=known if known >= 0 else len(codes), all_of_them=False)
            known = _lower(codes.find(FITS, start), codes.find(ABORTS, start))
        return (known, codes[known]) if known >= 0 else (-1, NO)

    def codes(self, asked: Asked) -> bytes:
        """Return the code of every node."""
        codes = self._codes_for(asked)
        unknown = codes.find(UNKNOWN)
        cut: Sequence[int] = ()
        if unknown >= 0:
            cut = self._explore(asked, codes, unknown, stop=len(codes), all_of_them=True)
        # Of a copy: 3.13 without the interpreter's lock miscounts those who read one bytearray at the same time.
        answer = codes.copy()
        for place in cut:
            answer[place] = UNDECIDED
        return bytes(answer)

    def code(self, asked: Asked, place: int) -> int:
        """Return the code of one node."""
        codes = self._codes_for(asked)
        if codes[place] == UNKNOWN:
            code = self._judge(asked, place)
            if code == _CUT_SHORT:
                return UNDECIDED
            codes[place] = code
        return codes[place]

    def abort(self, asked: Asked, place: int) -> Unsatisfiable:
        """Return the outcome of an attempt that a node ends."""
        with finishing():
            return Unsatisfiable((NodeRefusal(self.roster.names[place], *self._error(asked, place)),), aborts=True)

    def refused(self, asked: Asked, place: int) -> Unsatisfiable | None:
        """Return the outcome on a node that does not fit; None for one that does, or may."""
        code = self.code(asked, place)
        if code == ABORTS:
            return self.abort(asked, place)
        return Unsatisfiable((self.refusal(asked, place, code),)) if code in _REFUSED else None

    def unsolved(self, asked: Asked, place: int) -> bool:
        """Return whether an undecided node's question is one that CP-SAT was not asked, and could be."""
        # Where the command's work ran out that is the reason, and the code is unknown.
        return self._codes_for(asked)[place] == UNDECIDED and self._error(asked, place)[0] == "unsolved"

    def refusals(self, asked: Asked) -> Callable[[], tuple[NodeRefusal, ...]]:
        """Return what makes the refusals of all nodes that do not fit; later changes do not show in them."""
        codes = self.codes(asked)
        failing = {place: self.refusal(asked, place, FAILS) for place in places_of(codes, FAILS)}
        return lambda: tuple(
            failing.get(place) or self.refusal(asked, place, code)
            for place, code in enumerate(codes)
            if code in _REFUSED
        )

    def refusal(self, asked: Asked, place: int, code: int) -> NodeRefusal:
        """Return why a node with this code does not fit."""
        name = self.roster.names[place]
        if code == FAILS:
            with finishing():
                return NodeRefusal(name, *self._error(asked, place))
        known = self._plain.get((place, code))
        if known is None:
            known = NodeRefusal(name, "no-fit")
            # A slice that is all there is to a node is a valid pool.
            if code == NO and self.alone(place) is None and self.survey.view(self.roster.nodes[place]).invalid:
                known = NodeRefusal(name, "pool-invalid", "invalid resource pools were encountered")
            self._plain[place, code] = known
        return known

    def _error(self, asked: Asked, place: int) -> tuple[str, str]:
        """Return the error that a node's question ends with, as it was found or, if that is forgotten, once more."""
        key = _named(asked, place)
        if key not in self._errors:
            self._search(asked, place)
        return self._errors.get(key, ("no-fit", ""))

    def _search(self, asked: Asked, place: int) -> int:
        """Return the code of one node that takes a search, and remember an error."""
        before = cuts()
        match self._answering.ask(self.roster.nodes[place], asked.claims, asked.budget):
            case Solved():
                return FITS
            case NoFit():
                return SEARCHED_NO
            case OutOfBudget() if cuts() != before:
                return _CUT_SHORT
            case OutOfBudget(work):
                if all(stage.engine not in ("table", "cp-sat") for stage in work.stages):
                    self._note(asked, place, ("unsolved", ""))
                return UNDECIDED
            case Aborted(text, code, _, on_node):
                self._note(asked, place, (code, text))
                return FAILS if on_node else ABORTS

    def _note(self, asked: Asked, place: int, error: tuple[str, str]) -> None:
        """Remember what a question ended with on a node."""
        if len(self._errors) >= _MOST_ERRORS:
            self._errors.clear()
        self._errors[_named(asked, place)] = error

    def taken(self, places: Iterable[int] | None) -> None:
        """Note that devices of some nodes were taken, or (None) devices that every node may see: a plain no stays."""
        self._errors.clear()
        if places is None:
            self._origin = None
            for key, codes in self._codes.items():
                self._codes[key] = codes.translate(_AFTER_TAKING)
            return
        for place in places:
            self._touched.add(place)
            for codes in self._codes.values():
                if codes[place]:
                    codes[place] = UNKNOWN

    def _forget(self, places: Iterable[int]) -> None:
        """Make the answers of nodes unknown that changed in any way."""
        for place in places:
            self._touched.add(place)
            for codes in self._codes.values():
                codes[place] = UNKNOWN

    def opened(self, occupancy: Occupied, answering: Answering) -> Standings:
        """Return the standings for placing pods, in which devices are taken one after the other."""
        made = self.forked(self.survey, occupancy, answering)
        made._origin = self  # noqa: SLF001  # its own class
        made._alone = self._lone_slices()  # noqa: SLF001  # its own class
        return made

    def forked(
        self, survey: Survey, occupancy: Occupied, answering: Answering, places: Iterable[int] | None = ()
    ) -> Standings:
        """Return the standings of a state that differs on some nodes, or (None) anywhere."""
        made = Standings(self.roster, survey, occupancy, answering)
        if places is not None:
            most = max(1, _CARRIED_BYTES // (len(self.roster.nodes) + 1))
            for key, codes in list(self._codes.items())[-most:]:
                made._codes[key] = codes.copy()
            places = tuple(places)
            alone = self._alone
            if alone is not None:
                made._alone = alone if survey is self.survey else alone.renewed(survey, self.roster.names, places)
            made._forget(places)
        return made

    def alone(self, place: int) -> SliceRow | None:
        """Return the slice that is all there is to a node; None for a node that needs a closer look."""
        return self._lone_slices().at(place)

    def _lone_slices(self) -> LoneSlices:
        if self._alone is None:
            self._alone = LoneSlices(self.survey.alone(self.roster.names), {})
        return self._alone

    def _codes_for(self, asked: Asked) -> bytearray:
        codes = self._codes.get(asked.key)
        if codes is None:
            codes = bytearray([UNKNOWN]) * len(self.roster.nodes)
            # A list first: other threads may ask something new meanwhile.
            for key in list(self._codes)[: 1 - _MOST_QUESTIONS]:
                self._codes.pop(key, None)
            codes = self._codes.setdefault(asked.key, codes)
        return codes

    def _explore(self, asked: Asked, codes: bytearray, start: int, *, stop: int, all_of_them: bool) -> list[int]:
        """
        Find out about nodes from `start` on, up to the first that fits or ends the attempt unless all are wanted.

        Return those that stay unknown because the command's work ran out.
        """
        cut: list[int] = []
        alone, quick, judge, find = self._lone_slices().at, self._quick(asked), self._judge, codes.find
        origin = None if self._origin is None else self._origin._codes_for(asked)  # noqa: SLF001  # its own class
        place = start
        while 0 <= place < stop:
            try:
                row = alone(place)
                code = UNKNOWN if row is None or quick is None else quick(row)
                if code == UNKNOWN:
                    code = judge(asked, place)
            except BudgetExhausted:
                code = _CUT_SHORT
            if code == _CUT_SHORT:
                cut.append(place)
            else:
                codes[place] = code
                if origin is not None and place not in self._touched:
                    origin[place] = code
                if code in (FITS, ABORTS) and not all_of_them:
                    break
            place = find(UNKNOWN, place + 1)
        return cut

    def _quick(self, asked: Asked) -> Callable[[SliceRow], int] | None:
        """Return what tells the codes of nodes with one slice only, as far as boards do: else it returns UNKNOWN."""
        admitted, steps = asked.admitted, asked.budget.steps
        if admitted is None or admitted.plan is None:
            return None
        plan, survey = admitted.plan, self.survey
        lens, every, sharing, known_board = plan.lens, plan.every, plan.sharing is not None, plan.boards.get
        busy_of = self._occupancy.busy_in_one()
        most = STEPS if steps is None else steps
        shared: Callable[[SliceRow], BoardAnswer | None] | None = None

        def code(row: SliceRow) -> int:
            nonlocal shared
            busy = busy_of(row, 0)
            choice: BoardAnswer | None = None
            if busy is not None:
                if busy and busy == (1 << len(row.wire.spec.devices)) - 1 and not every:
                    return NO
                board = known_board(row.columns.get(lens))
                if board is None:
                    found = alone(survey, row, admitted, busy)
                    choice = None if found is None else found[0]
                else:
                    busy &= board.relevant
                    choice, _ = board.answers.get(busy) or decide(board, busy, admitted, (row,))
            if choice is None and sharing:
                shared = shared or self._answering.shared(admitted)
                choice = shared(row)
            if choice is None or choice.found is None or choice.steps > most:
                return UNKNOWN
            return FITS if choice.found else NO

        return code

    def _judge(self, asked: Asked, place: int) -> int:
        try:
            return self._judged(asked, place)
        except BudgetExhausted:
            return _CUT_SHORT

    def _judged(self, asked: Asked, place: int) -> int:
        try:
            answer = self._answering.directly(self.roster.nodes[place], asked.admitted, asked.budget)
        except GatherError:
            return ABORTS
        if answer is None:
            return self._search(asked, place)
        return FITS if answer.choice.found else NO


def _named(asked: Asked, place: int) -> Hashable:
    """Return a key for what is said of a node in the words of these claims."""
    return asked.key, place, tuple([claim_name(claim) for claim in asked.claims])


def _lower(left: int, right: int) -> int:
    """Return the lower of two places, each -1 if there is none."""
    return max(left, right) if min(left, right) < 0 else min(left, right)


def places_of(codes: bytes, code: int) -> Iterator[int]:
    """Yield the places that have a code."""
    place = codes.find(code)
    while place >= 0:
        yield place
        place = codes.find(code, place + 1)


def concerned(pools: Iterable[PoolKey], inventories: Iterable[Inventory], roster: Roster) -> list[int] | None:
    """Return the nodes whose answers depend on the pools; None if that may be all."""
    places: list[int] = []
    beyond = tuple(inventories)
    for key in pools:
        for row in (each for inventory in beyond for each in inventory.by_pool.get(key, ())):
            if not row.node_name:
                return None
            place = roster.places.get(row.node_name)
            if place is not None:
                places.append(place)
    return places
