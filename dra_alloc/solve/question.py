"""
A question with everything looked up and nothing decided yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.pools import Pool
from dra_alloc.problem.requests import ClaimRow
from dra_alloc.rules import Context, RuleSet, install


class Question(Struct, frozen=True, eq=False):
    """
    Claims on a node, looked up and admitted, with nothing decided yet.

    `candidates` are the devices in the order in which they are tried. `peek`
    reads what is left of a pool's counters without remembering it: upstream
    remembers by pool name alone, so looking is not harmless.
    """

    context: Context
    rows: tuple[ClaimRow, ...]
    candidates: tuple[DeviceRow, ...]
    peek: Callable[[Pool], Mapping[tuple[str, str], int]]

    def fresh_rules(self) -> RuleSet:
        """Return the rules with their state before the first pick."""
        return install(replace(self.context, in_flight={}), self.rows)

    def table_rules(self) -> RuleSet:
        """Return fresh rules that leave no trace in the allocator, for building a table."""
        seen: dict[Pool, Mapping[tuple[str, str], int]] = {}

        def once(pool: Pool) -> Mapping[tuple[str, str], int]:
            if pool not in seen:
                seen[pool] = self.peek(pool)
            return seen[pool]

        return install(replace(self.context, in_flight={}, availability=once), self.rows)
