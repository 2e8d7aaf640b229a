"""
One allocator over one cluster state: questions in, outcomes out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from struct import Struct
from typing import Final

from dra_alloc.api import AllocationResult, DeviceClass, Node, ResourceClaim
from dra_alloc.problem.devices import DeviceKey, SliceRow
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.occupancy import Occupancy
from dra_alloc.problem.pools import GatherError, Pool
from dra_alloc.problem.requests import ClaimRow, claim_name
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Profile, Trait
from dra_alloc.rules import Context, Rule, RuleSet, SearchStopped, available_counters, install
from dra_alloc.solve.admit import Admission, admit
from dra_alloc.solve.assemble import assemble, forms_of
from dra_alloc.solve.direct import Answer, Direct, Occupied, picks_of
from dra_alloc.solve.ladder import DEFAULT_BUDGET, Budget, Engine, Found, Ladder
from dra_alloc.solve.masks.board import BoardAnswer
from dra_alloc.solve.outcome import Aborted, NoFit, OutOfBudget, Solved, SolveOutcome, Work
from dra_alloc.solve.question import Question
from dra_alloc.solve.results import Results, serving
from dra_alloc.solve.survey import Survey
from dra_alloc.solve.verify import verify
from dra_alloc.solve.views import Admitted
from dra_alloc.work import BudgetExhausted, finishing


def not_found(name: str) -> LookupError:
    """Return the error of a class lister that does not know the class."""
    return LookupError(f'deviceclass.resource.k8s.io "{name}" not found')


#: Random UUIDs that nobody got yet; a process that is forked off must not give them out as well.
_UUIDS: Final[list[str]] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_UUIDS.clear)


def new_uuid() -> str:
    """Return a random UUID; an eighth of the cost of an object that stands for one."""
    while True:
        try:
            return _UUIDS.pop()
        except IndexError:
            _UUIDS.extend(_uuids(64))


def _uuids(count: int) -> list[str]:
    raw = bytearray(os.urandom(16 * count))
    raw[6::16], raw[8::16] = raw[6::16].translate(_OF_VERSION_4), raw[8::16].translate(_OF_RFC_4122)
    return b" ".join(map(b"-".join, _PARTS.iter_unpack(raw.hex().encode()))).decode().split()


#: What the bytes of version and variant are to be, by random ones; and the parts of an id in hexadecimal digits.
_OF_VERSION_4: Final = bytes(0x40 | each & 0x0F for each in range(256))
_OF_RFC_4122: Final = bytes(0x80 | each & 0x3F for each in range(256))
_PARTS: Final = Struct("8s4s4s4s12s")


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """
    What is known of a cluster: slices, classes, what is allocated already.

    `holders` names the claims that hold a device; `class_not_found` makes the
    class lister's error.
    """

    inventory: Inventory
    classes: Mapping[str, DeviceClass]
    usage: Usage
    holders: Callable[[DeviceKey], tuple[str, ...]] = lambda key: ()
    class_not_found: Callable[[str], LookupError] = not_found


class Allocator:
    """
    Answers for one cluster state and profile; questions do not change it.

    What is found out about slices and claims is remembered between questions,
    in the survey; allocators of states that differ only in what is allocated
    may share one.
    """

    def __init__(
        self, state: State, profile: Profile, survey: Survey | None = None, occupancy: Occupied | None = None
    ) -> None:
        self.state = state
        self.profile = profile
        self.survey = survey or Survey(state.inventory, state.classes, profile, state.class_not_found)
        self.direct = Direct(self.survey, occupancy or Occupancy.of(state.usage, state.inventory.by_pool), state.usage)
        self._availability: dict[object, Mapping[tuple[str, str], int]] = {}

    def allocate(
        self,
        node: Node,
        claims: Sequence[ResourceClaim],
        *,
        engine: Engine | str = Engine.AUTO,
        budget: Budget = DEFAULT_BUDGET,
        new_share_id: Callable[[], str] = new_uuid,
    ) -> SolveOutcome:
        """
        Return the outcome of allocating the claims together on the node.

        Every engine gives the same answer or none; "first-fit" alone counts
        the steps that upstream would make. Results are put together when they
        are first looked at.

        Spec: SEARCH-1, ADMIT-1, RESULT-1.
        Raises: EngineUnavailable for "cp-sat" without OR-tools.
        """
        ladder: Ladder | None = None
        pools: Sequence[Pool] = ()
        try:
            rows: tuple[ClaimRow, ...] | None = None
            if engine == Engine.AUTO:
                admitted = self.direct.admitted(claims)
                answer = self.direct.answer_known(node, admitted, budget.steps)
                if answer is not None:
                    return self.told(answer, new_share_id)
                rows = None if admitted is None else admitted.rows_of(claims)
            pools = self.survey.pools(node)
            question = self._question(node, pools, claims, rows)
            ladder = Ladder(question, Engine(engine), budget)
            found = ladder.climb()
            if found is None:
                return self._no_fit(_work(ladder), invalid=any(pool.invalid and not pool.as_seen for pool in pools))
            return self.finished(question, found, _work(ladder), new_share_id)
        except SearchStopped as stop:
            return Aborted(stop.text, stop.code, _work(ladder), stop.on_node)
        except GatherError as error:
            return Aborted(str(error), "node-selector", Work())
        except BudgetExhausted as error:
            return OutOfBudget(_work(ladder), str(error))

    def question(
        self,
        node: Node,
        claims: Sequence[ResourceClaim],
        pools: Sequence[Pool] | None = None,
        rows: tuple[ClaimRow, ...] | None = None,
    ) -> Question:
        """
        Return the looked-up and admitted form of a question, for those who look into an answer.

        Other pools than those of the node may be given, and what the claims are as rows if no node has a say in that.

        Raises: SearchStopped, GatherError.
        """
        return self._question(node, self.survey.pools(node) if pools is None else pools, claims, rows)

    def rules_on(self, node: Node, pools: Sequence[Pool]) -> RuleSet:
        """Return the rules for claims without constraints, in their first state."""
        return install(self._context(node, pools, ()), ())

    def told(self, answer: Answer, new_share_id: Callable[[], str] = new_uuid) -> SolveOutcome:
        """Return what the direct engine found as an outcome."""
        admitted, view, choice, work = answer
        if not choice.found:
            return self._no_fit(work, invalid=view.invalid)
        picks = partial(picks_of, admitted.asks, view.slices, choice)
        return Solved(self.results_of(answer, new_share_id), picks, work)

    def results_of(self, answer: Answer, new_share_id: Callable[[], str] = new_uuid) -> Results:
        """Return what puts together the results of a solution that the direct engine found."""
        return Results(answer, self.survey, new_share_id)

    def results_alone(
        self, node: Node, row: SliceRow, admitted: Admitted, choice: BoardAnswer
    ) -> tuple[AllocationResult, ...]:
        """Return the results of a solution on a node's only slice, one per claim."""
        picks = picks_of(admitted.asks, (row,), choice)
        return assemble(admitted.rows, picks, serving(self.survey, admitted, choice.served), node, new_uuid)

    def _question(
        self,
        node: Node,
        pools: Sequence[Pool],
        claims: Sequence[ResourceClaim],
        rows: tuple[ClaimRow, ...] | None = None,
    ) -> Question:
        context = self._context(node, pools, claims)
        if rows is None:
            gather = partial(self._gather_rules, context)
            rows = admit(claims, Admission(self.profile, pools, self.survey.find_class, gather))
        candidates = tuple([device for pool in pools if pool.usable for device in pool.devices])
        return Question(context, rows, candidates, self._peek)

    def finished(
        self, question: Question, found: Found, work: Work, new_share_id: Callable[[], str] = new_uuid
    ) -> Solved:
        """
        Return an answer, checked once more by the plain definition of each rule, as the outcome.

        Raises: InternalError for one that breaks a rule.
        """
        context, rows = question.context, question.rows
        with finishing():
            verify(found.picks, rows, context)
        picks = tuple(found.picks if found.settled is None else found.settled)
        forms = forms_of(rows, found.selected, self.profile)
        return Solved(assemble(rows, picks, forms, context.node, new_share_id), picks, work)

    def _no_fit(self, work: Work, *, invalid: bool) -> SolveOutcome:
        if invalid:
            return Aborted("invalid resource pools were encountered", "pool-invalid", work, on_node=True)
        return NoFit(work)

    def _context(self, node: Node, pools: Sequence[Pool], claims: Sequence[ResourceClaim]) -> Context:
        names = [claim_name(claim) for claim in claims]
        selection = self.survey.selection
        return Context(
            self.profile,
            node,
            pools,
            self.state.usage,
            selects=lambda ask, device: selection.selects(ask, device, names[ask.claim]),
            explain_selector=lambda ask, device: selection.explain(ask, device, names[ask.claim]),
            derive=selection.derive,
            availability=self._available,
            holders=self.state.holders,
            claim_names=names,
        )

    def _gather_rules(self, context: Context) -> Sequence[Rule]:
        rules = install(context, ())
        return [rule for rule in rules.candidate if rule.gathers]

    def _available(self, pool: Pool) -> Mapping[tuple[str, str], int]:
        key = self._availability_key(pool)
        known = self._availability.get(key)
        if known is None:
            known = self._availability[key] = self._peek(pool)
        return known

    def _peek(self, pool: Pool) -> Mapping[tuple[str, str], int]:
        known = self._availability.get(self._availability_key(pool))
        return available_counters(pool, self.state.usage, self.profile) if known is None else known

    def _availability_key(self, pool: Pool) -> object:
        return pool.key.pool if self.profile.shows(Trait.COUNTERS_BY_POOL_NAME) else pool.key


def _work(ladder: Ladder | None) -> Work:
    if ladder is None:
        return Work()
    return Work(ladder.steps, ladder.engine, tuple(ladder.stages))
