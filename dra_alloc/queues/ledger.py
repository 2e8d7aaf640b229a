"""
The ledger: accounts as a forest, what each has of its own, and what is charged to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Generic, TypeAlias, TypeVar

from dra_alloc.errors import InputError, in_brief

#: What is limited and charged: ``(flavor, resource)``, ``(resource,)``, ``(dimension, class)``.
Key: TypeAlias = tuple[str, ...]
#: Amounts: whole numbers, or floats where the system counts so.
Amount = TypeVar("Amount", int, float)
_ONE: Final = Fraction(1)


@dataclass(frozen=True, slots=True)
class Grant(Generic[Amount]):
    """
    What an account has of one key.

    `quota` is its own. `most` is how much there may be beyond that, or in all,
    as the system says; `lends` how much of its own others may use. None is no limit.
    """

    quota: Amount
    most: Amount | None = None
    lends: Amount | None = None


@dataclass(frozen=True, slots=True)
class QueueAccount(Generic[Amount]):
    """A queue or a group of queues; `parent` is the name of the account above it."""

    name: str
    parent: str = ""
    grants: Mapping[Key, Grant[Amount]] = field(default_factory=dict)
    weight: Fraction = _ONE


class QueueLedger(Generic[Amount]):
    """
    Accounts by name, and what is charged to each.

    A charge goes to an account and on to those above it, except what `kept`
    says that the account covers itself and nobody above sees.

    Raises: InputError for an account that is there twice, one whose parent is not there, and a circle of parents.
    Spec: QUEUE-1.
    """

    def __init__(self, accounts: Iterable[QueueAccount[Amount]]) -> None:
        self.accounts: dict[str, QueueAccount[Amount]] = {}
        for each in accounts:
            if each.name in self.accounts:
                raise InputError(f"queue {in_brief(each.name)} is there twice")
            self.accounts[each.name] = each
        self.kept: dict[tuple[str, Key], Amount] = {}
        self._used: dict[tuple[str, Key], Amount] = {}
        self.from_above: tuple[str, ...] = tuple(self._walk())

    def _walk(self) -> Iterator[str]:
        """Yield the names, each after that of its parent."""
        below: dict[str, list[str]] = {}
        for each in self.accounts.values():
            if each.parent and each.parent not in self.accounts:
                raise InputError(f"queue {in_brief(each.name)} is below {in_brief(each.parent)}, which is not there")
            below.setdefault(each.parent, []).append(each.name)
        level, done = below.get("", []), set[str]()
        while level:
            yield from level
            done.update(level)
            level = [inner for name in level for inner in below.get(name, ())]
        if len(done) < len(self.accounts):
            first = next(name for name in self.accounts if name not in done)
            raise InputError(f"queues are below one another in a circle: {in_brief(first)} is")

    def line(self, name: str) -> Iterator[QueueAccount[Amount]]:
        """Yield an account and those above it, the topmost last."""
        while name:
            account = self.accounts[name]
            yield account
            name = account.parent

    def used(self, name: str, key: Key) -> Amount:
        """Return what is charged to an account."""
        return self._used.get((name, key), 0)

    def charge(self, name: str, key: Key, amount: Amount) -> None:
        """Charge an account, and those above it with what it does not cover; a negative amount is given back."""
        for account in self.line(name):
            at = account.name, key
            before, kept = self._used.get(at, 0), self.kept.get(at, 0)
            after = before + amount
            self._used[at] = after
            amount = max(0, after - kept) - max(0, before - kept)
            if not amount:
                return


def circles(parents: Mapping[str, str]) -> Iterator[list[str]]:
    """Yield the circles in which names are above one another, each once; what has no parent here ends a line."""
    done: set[str] = set()
    for start in parents:
        name, line = start, dict[str, None]()
        while name in parents and name not in done and name not in line:
            line[name] = None
            name = parents[name]
        if name in line:
            yield list(line)[list(line).index(name) :]
        done.update(line)
