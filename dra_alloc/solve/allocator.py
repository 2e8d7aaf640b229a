"""
One allocator over one cluster state: questions in, outcomes out.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from dra_alloc.api import DeviceClass, Node, ResourceClaim
from dra_alloc.limits import DEFAULT_STEP_BUDGET
from dra_alloc.problem.devices import DeviceKey, DeviceRow
from dra_alloc.problem.inventory import Inventory
from dra_alloc.problem.pools import GatherError, Pool, gather
from dra_alloc.problem.requests import ClaimRow, claim_name
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import Profile, Trait
from dra_alloc.rules import Context, Rule, RuleSet, SearchStopped, install
from dra_alloc.rules.counters import available_counters
from dra_alloc.solve.admit import Admission, admit
from dra_alloc.solve.assemble import Assembly, assemble
from dra_alloc.solve.bounds import cannot_fit
from dra_alloc.solve.first_fit import BudgetExhausted, FirstFit
from dra_alloc.solve.outcome import Aborted, NoFit, OutOfBudget, Solved, SolveOutcome, Work
from dra_alloc.solve.selection import Selection
from dra_alloc.solve.verify import verify

__all__ = ["DEFAULT_BUDGET", "Allocator", "Budget", "Question", "State", "not_found"]


def not_found(name: str) -> LookupError:
    """Return the error of a class lister that does not know the class."""
    return LookupError(f'deviceclass.resource.k8s.io "{name}" not found')


@dataclass(frozen=True, slots=True)
class Budget:
    """How much work one question may cost: search steps, and seconds if a caller insists on a clock."""

    steps: int | None = DEFAULT_STEP_BUDGET
    seconds: float | None = None


DEFAULT_BUDGET: Final = Budget()


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


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """
    Claims on a node, looked up and admitted, with nothing decided yet.

    `candidates` are the devices in the order in which they are tried.
    """

    context: Context
    rows: tuple[ClaimRow, ...]
    candidates: tuple[DeviceRow, ...]

    def fresh_rules(self) -> RuleSet:
        """Return the rules with their state before the first pick."""
        return install(replace(self.context, in_flight={}), self.rows)


class Allocator:
    """
    Answers for one cluster state and profile; questions do not change it.

    Compiled selectors, prepared devices and counter availability are
    remembered between questions.
    """

    def __init__(self, state: State, profile: Profile) -> None:
        self.state = state
        self.profile = profile
        self._selection = Selection(profile)
        self._availability: dict[object, Mapping[tuple[str, str], int]] = {}

    def allocate(
        self,
        node: Node,
        claims: Sequence[ResourceClaim],
        *,
        bounds: bool = True,
        budget: Budget = DEFAULT_BUDGET,
        new_share_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> SolveOutcome:
        """
        Return the outcome of allocating the claims together on the node.

        With `bounds` hopeless questions are answered without a search; the
        answer is the same.

        Spec: SEARCH-1, ADMIT-1, RESULT-1.
        """
        search: FirstFit | None = None
        pools: Sequence[Pool] = ()
        try:
            pools = gather(self.state.inventory, node, self.profile)
            question = self._question(node, pools, claims)

            def hopeless() -> bool:
                return bounds and cannot_fit(question.rows, question.candidates, question.fresh_rules())

            search = FirstFit(
                question.rows, question.candidates, question.fresh_rules(), tick=_ticker(budget, hopeless)
            )
            return self._search(search, question, new_share_id)
        except SearchStopped as stop:
            steps = search.steps if search is not None else 0
            return Aborted(stop.text, stop.code, Work(steps), stop.on_node)
        except GatherError as error:
            return Aborted(str(error), "node-selector", Work())
        except _Hopeless:
            return self._no_fit(pools, Work(search.steps if search is not None else 0, "bounds"))
        except BudgetExhausted as error:
            return OutOfBudget(Work(search.steps if search is not None else 0), str(error))

    def question(self, node: Node, claims: Sequence[ResourceClaim]) -> Question:
        """
        Return the looked-up and admitted form of a question, for those who look into an answer.

        Raises: SearchStopped, GatherError.
        """
        return self._question(node, gather(self.state.inventory, node, self.profile), claims)

    def _question(self, node: Node, pools: Sequence[Pool], claims: Sequence[ResourceClaim]) -> Question:
        context = self._context(node, pools, claims)
        admission = Admission(self.profile, pools, self._find_class, self._gather_rules(context))
        candidates = tuple(device for pool in pools if pool.usable for device in pool.devices)
        return Question(context, admit(claims, admission), candidates)

    def _search(self, search: FirstFit, question: Question, new_share_id: Callable[[], str]) -> SolveOutcome:
        context, rows = question.context, question.rows
        if not search.run():
            return self._no_fit(context.pools, Work(search.steps))
        verify(search.picks, rows, context)
        assembly = Assembly(self.profile, context.node, new_share_id)
        results = assemble(rows, search.picks, search.selected, assembly)
        return Solved(results, tuple(search.picks), Work(search.steps))

    def _no_fit(self, pools: Sequence[Pool], work: Work) -> SolveOutcome:
        if any(pool.invalid for pool in pools):
            return Aborted("invalid resource pools were encountered", "pool-invalid", work, on_node=True)
        return NoFit(work)

    def _find_class(self, name: str) -> DeviceClass:
        found = self.state.classes.get(name)
        if found is None:
            raise self.state.class_not_found(name)
        return found

    def _context(self, node: Node, pools: Sequence[Pool], claims: Sequence[ResourceClaim]) -> Context:
        names = [claim_name(claim) for claim in claims]
        selection = self._selection
        return Context(
            self.profile,
            node,
            pools,
            self.state.usage,
            selects=lambda ask, device: selection.selects(ask, device, names[ask.claim]),
            explain_selector=lambda ask, device: selection.explain(ask, device, names[ask.claim]),
            availability=self._available,
            holders=self.state.holders,
        )

    def _gather_rules(self, context: Context) -> Sequence[Rule]:
        rules = install(context, ())
        return [rule for rule in rules.candidate if rule.gathers]

    def _available(self, pool: Pool) -> Mapping[tuple[str, str], int]:
        key = pool.key.pool if self.profile.shows(Trait.COUNTERS_BY_POOL_NAME) else pool.key
        known = self._availability.get(key)
        if known is None:
            known = self._availability[key] = available_counters(pool, self.state.usage, self.profile)
        return known


class _Hopeless(Exception):
    """A bound showed that the search cannot succeed."""


def _ticker(budget: Budget, hopeless: Callable[[], bool]) -> Callable[[int], None]:
    """Return what the search calls now and then: it asks the bounds once, then watches the budget."""
    deadline = None if budget.seconds is None else time.monotonic() + budget.seconds
    asked = False

    def tick(steps: int) -> None:
        nonlocal asked
        if not asked:
            asked = True
            if hopeless():
                raise _Hopeless
        if budget.steps is not None and steps > budget.steps:
            raise BudgetExhausted(f"gave up after {steps} search steps")
        if deadline is not None and time.monotonic() > deadline:
            raise BudgetExhausted("filter operation aborted: context deadline exceeded")

    return tick
