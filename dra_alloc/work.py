"""
The work of one command: a purse that selectors, searches, solvers and reasons all pay from.

Work is counted, not timed, so that the same question ends the same way on every
machine. A unit is about a microsecond of a current processor. Without a purse
nothing is counted: a library's caller bounds each question with a `Budget`.

Spec: ENGINE-13, ENGINE-14.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from itertools import chain, repeat
from typing import Final, Self, TypeVar

#: What a command may spend unless it is told otherwise: minutes, which no honest question has been seen to take.
DEFAULT_WORK: Final = 300_000_000

#: What a step of a search costs besides what it asks of selectors, and for how many devices as much again.
_STEP: Final = 32
_DEVICES_OF_A_STEP: Final = 64
#: What a deterministic unit of OR-tools costs.
_SOLVER_UNIT: Final = 1_000_000

Thing = TypeVar("Thing")


class BudgetExhausted(Exception):
    """A search took more steps or time than it was given, or a command more work."""


class Spent:
    """
    Units of work that were spent, how often some were refused, and whether something was left undone.

    No dataclass: this is loaded for `--help`, too, and what makes those takes a fifth of its time.
    """

    __slots__ = ("cuts", "refused", "units")

    def __init__(self) -> None:
        self.units = 0
        self.cuts = 0
        self.refused = False


class Purse:
    """
    Units of work that are left to whoever works inside `with purse:`, in this thread; `kept` of them are for later.

    It is for one command, and one thread. `refused` says that something was left undone for want of them,
    `cuts` how often work was refused or made shorter.
    """

    __slots__ = ("_outer", "all", "cuts", "kept", "left", "refused")

    def __init__(self, units: int) -> None:
        self.all = self.left = units
        self.kept = 0
        self.cuts = 0
        self.refused = False
        self._outer: list[Purse | None] = []

    def __enter__(self) -> Self:
        self._outer.append(_PURSE.get())
        _PURSE.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        _PURSE.set(self._outer.pop())

    @contextmanager
    def noting(self) -> Iterator[Spent]:
        """Note what is spent inside the block, so that another purse can pay for it."""
        before, spent = (self.left, self.cuts), Spent()
        yield spent
        spent.units, spent.cuts, spent.refused = before[0] - self.left, self.cuts - before[1], self.refused

    def pay(self, spent: Spent) -> None:
        """Pay for work that was done for another purse, with all that it was refused: whoever asks gets the same."""
        self.left -= spent.units
        self.cuts += spent.cuts
        self.refused |= spent.refused


_PURSE: Final[ContextVar[Purse | None]] = ContextVar("purse", default=None)
#: Something true if there is a purse to pay from.
is_counted: Final[Callable[[], object]] = _PURSE.get


def spend(units: int) -> None:
    """
    Pay for work before it is done.

    Raises: BudgetExhausted if nothing was left.
    """
    purse = _PURSE.get()
    if purse is not None:
        if purse.left <= purse.kept:
            purse.refused = True
            purse.cuts += 1
            raise BudgetExhausted(_said(purse))
        purse.left -= units


def cuts() -> int:
    """
    Return how often work was refused or made shorter so far for want of units.

    What is undecided while that grows may be so for this command only: whoever asks later asks again.
    """
    purse = _PURSE.get()
    return 0 if purse is None else purse.cuts


def is_spent() -> bool:
    """Return whether nothing is left for now, so that who asks again gets the same."""
    purse = _PURSE.get()
    return purse is not None and purse.left <= purse.kept


def ran_out() -> tuple[str, ...]:
    """Return, as a note to an answer, that something was left undone for want of work; nothing if that is not so."""
    purse = _PURSE.get()
    return (_said(purse),) if purse is not None and purse.refused else ()


def _said(purse: Purse) -> str:
    return f"the budget of {purse.all:,} units of work ran out: what it left undone is undecided (more: --budget N)"


def owe(units: int) -> None:
    """Pay for work that is done already, however much is left: what comes next is not begun if that was too much."""
    purse = _PURSE.get()
    if purse is not None:
        purse.left -= units


class Steps:
    """The steps of one search over so many devices, paid as they are made."""

    __slots__ = ("_made", "_price")

    def __init__(self, devices: int) -> None:
        self._made = 0
        self._price = _STEP + _STEP * devices // _DEVICES_OF_A_STEP

    def up_to(self, steps: int) -> None:
        """
        Pay for the steps up to a number of them, which were made.

        Raises: BudgetExhausted if nothing is left for more.
        """
        self.made(steps)
        spend(0)

    def made(self, steps: int) -> None:
        """Pay for the steps up to a number of them, after which no more are made."""
        before, self._made = self._made, steps
        owe((steps - before) * self._price)


def solver_limit(units: float) -> float:
    """
    Return how many deterministic units OR-tools may spend, if it may spend so many as far as it is asked.

    Raises: BudgetExhausted if nothing was left.
    """
    spend(1)
    purse = _PURSE.get()
    left = units if purse is None else (purse.left - purse.kept) / _SOLVER_UNIT
    if purse is not None and left < units:
        purse.cuts += 1
    return min(units, left)


def solver_worked(units: float) -> None:
    """Pay for what OR-tools did, in its deterministic units."""
    owe(round(units * _SOLVER_UNIT))


def finishing() -> AbstractContextManager[None]:
    """Let an answer that was found be put together whatever is left: that takes no more than finding it took."""
    return _keeping(lambda purse: purse.left - (1 << 62))


def sparing() -> AbstractContextManager[None]:
    """Keep half of what is left for what comes after."""
    return _keeping(lambda purse: purse.kept + max(0, purse.left - purse.kept) // 2)


@contextmanager
def _keeping(part: Callable[[Purse], int]) -> Iterator[None]:
    purse = _PURSE.get()
    if purse is None:
        yield
        return
    kept, purse.kept = purse.kept, part(purse)
    try:
        yield
    finally:
        purse.kept = kept


def evenly(things: Iterator[Thing], count: int) -> Iterator[Thing]:
    """
    Yield things of which each costs work to make and to look into, so that each has its part of what is left.

    Half of it is kept for all alike, an equal part for each; the other half is for
    those that come first. Things beyond the `count` have what is left then.
    """
    purse = _PURSE.get()
    if purse is None:
        yield from things
        return
    kept = purse.kept
    part = max(0, purse.left - kept) // (2 * max(1, count))
    try:
        for later in chain(range(count - 1, 0, -1), repeat(0)):
            purse.kept = kept + part * later
            yield next(things)
    except StopIteration:
        return
    finally:
        purse.kept = kept
