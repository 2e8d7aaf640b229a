"""
Kueue's quota tree: what ClusterQueues and Cohorts have, lend, borrow and have left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from math import ceil
from typing import Final, NamedTuple

from dra_alloc.api.amounts.text import MAX_INT64, MIN_INT64
from dra_alloc.queues.ledger import Grant, Key, QueueAccount, QueueLedger

_NOTHING: Final[Grant[int]] = Grant(0)


class QuotaFit(StrEnum):
    """How an amount fits: now; not now, but if others end or are preempted; never as things are configured."""

    FIT = "Fit"
    OVER_AVAILABLE = "OverAvailable"
    NO_FIT = "NoFit"


class BorrowedShare(NamedTuple):
    """What a node borrows of what it could, in thousandths by weight; `resource` is the one that decides it."""

    weighted: int
    resource: str
    borrowing: bool


class QuotaTree:
    """
    Quotas of ClusterQueues and Cohorts by (flavor, resource), and what is used of them.

    Of a grant `quota` is the nominal quota, `most` the borrowing limit, `lends`
    the lending limit. Amounts stay within 64 bits.

    Spec: KUEUE-1 to KUEUE-5. Raises: InputError for nodes that are no forest.
    """

    def __init__(self, nodes: Iterable[QueueAccount[int]]) -> None:
        self.ledger = QueueLedger(nodes)
        self._subtree: dict[str, dict[Key, int]] = {name: {} for name in self.ledger.accounts}
        self._height = dict.fromkeys(self.ledger.accounts, 0)
        for name in reversed(self.ledger.from_above):
            account = self.ledger.accounts[name]
            if account.parent:
                self._height[account.parent] = max(self._height[account.parent], self._height[name] + 1)
            for key, grant in account.grants.items():
                self._add(name, key, grant.quota)
            for key, subtree in self._subtree[name].items():
                lends = account.grants.get(key, _NOTHING).lends
                local = 0 if lends is None else max(0, subtree - lends)
                self.ledger.kept[name, key] = local
                if account.parent:
                    self._add(account.parent, key, subtree - local)

    def _add(self, name: str, key: Key, amount: int) -> None:
        had = self._subtree[name]
        had[key] = _in_64_bits(had.get(key, 0) + amount)

    def subtree(self, name: str) -> Mapping[Key, int]:
        """Return the quota that a node has with those below it, by key."""
        return self._subtree[name]

    def local(self, name: str, key: Key) -> int:
        """Return how much of its quota a node keeps from others."""
        return self.ledger.kept.get((name, key), 0)

    def available(self, name: str, key: Key) -> int:
        """Return how much more a node can use now; less than nothing where quota was cut."""
        line = list(self.ledger.line(name))
        root = line.pop()
        found = self._quota(root, key) - self.ledger.used(root.name, key)
        for account in reversed(line):
            local, used = self.local(account.name, key), self.ledger.used(account.name, key)
            limit = account.grants.get(key, _NOTHING).most
            if limit is not None:
                beyond = self._quota(account, key) - local - max(0, used - local)
                found = min(found, beyond + limit)
            found += max(0, local - used)
        return _in_64_bits(found)

    def potential(self, name: str, key: Key) -> int:
        """Return how much a node could use if nobody used anything."""
        line = list(self.ledger.line(name))
        found = self._quota(line.pop(), key)
        for account in reversed(line):
            found += self.local(account.name, key)
            limit = account.grants.get(key, _NOTHING).most
            if limit is not None:
                found = min(found, self._quota(account, key) + limit)
        return _in_64_bits(found)

    def fit(self, name: str, key: Key, amount: int) -> QuotaFit:
        """Return how an amount fits into a node; none at all does also where more is used than there is."""
        if amount > self.potential(name, key):
            return QuotaFit.NO_FIT
        return QuotaFit.FIT if amount <= max(0, self.available(name, key)) else QuotaFit.OVER_AVAILABLE

    def borrows(self, name: str, key: Key, amount: int) -> int:
        """
        Return the height of the lowest subtree that holds an amount without borrowing: 0 is the node's own quota.

        A subtree is as high as its longest way down.
        """
        height = 0
        for account in self.ledger.line(name):
            height = self._height[account.name]
            if self.ledger.used(account.name, key) + amount <= self._quota(account, key):
                return height
            amount = max(0, amount - max(0, self.local(account.name, key) - self.ledger.used(account.name, key)))
        return height

    def share(self, name: str) -> BorrowedShare:
        """Return what a node borrows of what it could: the most of any resource, over its weight."""
        account = self.ledger.accounts[name]
        borrowed: Counter[str] = Counter()
        for key, quota in self._subtree[name].items():
            borrowed[key[-1]] += max(0, self.ledger.used(name, key) - quota)
        borrowed = +borrowed
        if not account.parent or not borrowed:
            return BorrowedShare(0, "", borrowing=False)
        lendable: Counter[str] = Counter()
        for key in self._subtree[account.parent]:
            lendable[key[-1]] += self.potential(account.parent, key)
        # In floating point, as Kueue reckons: exact fractions are rounded up otherwise.
        ratios = {each: borrowed[each] * 1000.0 / lendable[each] for each in borrowed if lendable[each] > 0}
        resource = min(ratios, key=lambda each: (-ratios[each], each), default="")
        if not resource:
            return BorrowedShare(0, "", borrowing=True)
        weighted = ceil(ratios[resource] / float(account.weight)) if account.weight else MAX_INT64
        return BorrowedShare(min(weighted, MAX_INT64), resource, borrowing=True)

    def _quota(self, account: QueueAccount[int], key: Key) -> int:
        return self._subtree[account.name].get(key, 0)


def _in_64_bits(amount: int) -> int:
    return min(max(amount, MIN_INT64), MAX_INT64)
