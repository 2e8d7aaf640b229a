"""
Pods that want one device each, packed into cells: whole GPUs with their partitions, or single devices.

For such pods a node is nothing but its cells, so it is enough to know in which
ways each kind of cell can be filled, and how many there are. That is decided
for a thousand GPUs in milliseconds.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from dra_alloc.api import Node, ResourceClaim
from dra_alloc.cluster.alike_nodes import AlikeNodes
from dra_alloc.problem.pools import GatherError
from dra_alloc.rules import SearchStopped
from dra_alloc.scenario.gang.menus import Counts, TooMuchWork, covers
from dra_alloc.solve.allocator import Allocator
from dra_alloc.solve.table.build import build_table
from dra_alloc.solve.table.picking import Picking
from dra_alloc.solve.table.symmetry import Symmetry
from dra_alloc.solve.table.table import AskRow, NotModelled, Table, bits
from dra_alloc.solve.table.trust import judged

#: States of one cell that are looked at while it is filled in every way.
MOST_STATES: Final = 50_000


@dataclass(frozen=True, slots=True)
class Cells:
    """
    Cells that can be filled in the same ways.

    `ways` are counts of pods of each shape to which none can be added; `where` holds,
    in the order of the nodes, each node with its number of such cells.
    """

    ways: tuple[Counts, ...]
    where: tuple[tuple[Node, int], ...]

    @property
    def number(self) -> int:
        """Return how many cells there are."""
        return sum(count for _, count in self.where)


def wants_one_device(claims: Sequence[ResourceClaim]) -> bool:
    """Return whether a pod with these claims wants a single device that need not fit to any other."""
    if len(claims) != 1 or len(claims[0].spec.devices.requests) != 1:
        return False
    wire = claims[0].spec.devices.requests[0].exactly
    return wire is not None and wire.allocation_mode == "ExactCount" and wire.count == 1 and not wire.admin_access


def cells_of_nodes(
    allocator: Allocator, nodes: Sequence[Node], shapes: Sequence[Sequence[ResourceClaim]], demand: Counts
) -> list[Cells]:
    """
    Return the cells of the nodes by the ways in which they can be filled.

    Raises: TooMuchWork.
    """
    claims = [claim for each in shapes for claim in each]
    alike = AlikeNodes(allocator, claims)
    known: dict[Hashable, dict[tuple[Counts, ...], int]] = {}
    where: dict[tuple[Counts, ...], list[tuple[Node, int]]] = {}
    for node in nodes:
        key = alike.key(node)
        if key not in known:
            known[key] = _cells(allocator, node, claims, demand)
        for ways, count in known[key].items():
            where.setdefault(ways, []).append((node, count))
    return [Cells(ways, tuple(places)) for ways, places in where.items()]


def _cells(
    allocator: Allocator, node: Node, claims: Sequence[ResourceClaim], demand: Counts
) -> dict[tuple[Counts, ...], int]:
    """Return how many cells of the node can be filled in which ways."""
    try:
        question = allocator.question(node, claims)
        rules = question.table_rules()
        made = build_table(question.rows, question.candidates, rules, every_draw=True)
        table = judged(made, rules)
    except (SearchStopped, GatherError):
        return {}
    except NotModelled as reason:
        raise TooMuchWork(f"node {node.metadata.name}: {reason}") from None
    found: dict[tuple[Counts, ...], int] = {}
    ways_of: dict[Hashable, tuple[Counts, ...]] = {}
    for make_up, mask in _separate(table):
        ways = ways_of.get(make_up)
        if ways is None:
            ways = ways_of[make_up] = _Filling(table, mask, demand).ways()
        if any(map(any, ways)):
            found[ways] = found.get(ways, 0) + 1
    return found


def _separate(table: Table) -> Iterator[tuple[Hashable, int]]:
    """Yield the cells, and devices that draw on nothing one by one, each with a key that alike ones share."""
    symmetry = Symmetry(table)
    drawing = 0
    for cell in symmetry.cells:
        if cell.draws:
            drawing |= cell.mask
            # Limits are not in the make-up: equal cells may have been used up differently.
            yield (cell.make_up, *(table.limits[draw] for draw in cell.draws)), cell.mask
    for index in bits(symmetry.later[0] & ~drawing):
        yield symmetry.alike[index], 1 << index


class _Filling:
    """All ways to fill one cell."""

    def __init__(self, table: Table, mask: int, demand: Counts) -> None:
        self._table = table
        self._mask = mask
        self._demand = demand
        self._asks = [slot.asks[0] for slot in table.slots]
        self._picking = Picking(table)
        self._seen: set[Hashable] = set()
        self._found: set[Counts] = set()

    def ways(self) -> tuple[Counts, ...]:
        """
        Return the counts to which nothing can be added.

        Raises: TooMuchWork.
        """
        self._fill((0,) * len(self._asks))
        return tuple(sorted(each for each in self._found if not any(covers(more, each) for more in self._found)))

    def _fill(self, counts: Counts) -> None:
        # Each pick goes one level deeper: no deeper than a cell has room.
        stack = [(counts, self._choices(0, counts))]
        while stack:
            counts, choices = stack[-1]
            chosen = next(choices, None)
            if chosen is None:
                self._found.add(counts)
                stack.pop()
                if stack:
                    self._picking.give_back()
                continue
            shape, device = chosen
            if not self._picking.take(self._asks[shape], device):
                continue
            after = tuple(count + (number == shape) for number, count in enumerate(counts))
            key = (shape, after, self._state())
            if key in self._seen:
                self._picking.give_back()
                continue
            if len(self._seen) >= MOST_STATES:
                raise TooMuchWork("a device can be divided in too many ways")
            self._seen.add(key)
            stack.append((after, self._choices(shape, after)))

    def _choices(self, first: int, counts: Counts) -> Iterator[tuple[int, int]]:
        """Yield what could be picked next; shapes come in order, which leaves out mere repetitions."""
        for shape in range(first, len(self._asks)):
            if counts[shape] < self._demand[shape]:
                for device in bits(self._candidates(self._asks[shape])):
                    yield shape, device

    def _candidates(self, ask: AskRow) -> int:
        return self._picking.candidates(ask) & self._mask

    def _state(self) -> Hashable:
        """Return what is left; devices picked only matter if their draws would allow them once more."""
        picking = self._picking
        again = 0
        for index in bits(picking.used & self._mask):
            if all(picking.left[draw] >= amount for draw, amount in self._table.pick_charges[index]):
                again |= 1 << index
        shared = tuple(count > 0 for count in picking.shares) if any(picking.shares) else ()
        return again, shared, tuple(picking.left)
