"""
The first path of the search, device by device: no more devices are looked at than upstream looks at.

Most questions that are asked for the first time on a node fit at once; then whatever else is there need not be judged.

Spec: DIRECT-2, DIRECT-3.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.rules import SearchStopped
from dra_alloc.solve.masks.board import (
    NOTHING,
    BoardAnswer,
    Chosen,
    Constraint,
    Judge,
    Special,
    Valued,
    solution,
    valued,
)
from dra_alloc.solve.masks.shape import Need, Shape


def first_path(
    shape: Shape, judges: Sequence[Judge], constraints: Sequence[Constraint], rows: Sequence[SliceRow], busy: int
) -> BoardAnswer | None:
    """
    Return the solution that the search finds without going back; None if it takes a closer look.

    A first request for more devices than there are for it is refuted, too: every device that is free was looked at.
    `rows` are the slices in the order in which their devices are tried, `busy` masks the devices held.
    """
    if len(rows) == 1 and len(shape.slots) == 1 and len(shape.slots[0]) == 1 and not constraints:
        return _only_request(shape.slots[0][0], judges[0], rows[0], busy)
    return follow(Path(constraints, rows, busy), shape, judges)


def follow(path: Path, shape: Shape, judges: Sequence[Judge]) -> BoardAnswer | None:
    """Return the same along a path that was not gone yet."""
    served: list[int] = []
    ask = 0
    try:
        for slot in shape.slots:
            if not path.serve(ask, slot[0], judges[slot[0].criteria]):
                hopeless = not served and len(slot) == 1 and path.eligible < slot[0].count
                return NOTHING if hopeless else None
            served.append(ask)
            ask += len(slot)
    except (Special, SearchStopped):
        return None
    return solution(len(path.picks), path.picks, served)


def _only_request(need: Need, judge: Judge, row: SliceRow, busy: int) -> BoardAnswer | None:
    local = judge.on(row)
    if local is None:
        return NOTHING
    allows = local.asking()
    picks: list[tuple[int, int]] = []
    try:
        for index, device in enumerate(row.devices):
            if not busy >> index & 1 and allows(device):
                picks.append((0, index))
                if len(picks) == need.count:
                    return solution(need.count, picks, (0,))
    except (Special, SearchStopped):
        return None
    return NOTHING


class Path:
    """What was picked so far, and what that leaves to constraints."""

    __slots__ = ("_chosen", "_constraints", "_rows", "_values", "busy", "eligible", "picks")

    def __init__(self, constraints: Sequence[Constraint], rows: Sequence[SliceRow], busy: int) -> None:
        self._constraints = constraints
        self._rows = rows
        self.busy = busy
        # Devices that the last request could have had, as far as it looked.
        self.eligible = 0
        self.picks: list[tuple[int, int]] = []
        # By criteria and slice: what judges its devices, and which it chose. Several claims may ask alike.
        self._chosen: dict[tuple[int, SliceRow], Chosen] = {}
        # Per constraint the values of what was picked.
        self._values: list[set[Hashable]] = [set() for _ in constraints]

    def serve(self, ask: int, need: Need, judge: Judge) -> bool:
        """
        Take devices for one request; return whether there are enough.

        Raises: Special, SearchStopped.
        """
        missing = need.count
        self.eligible = 0
        for index, device in self._free(need, judge):
            self.eligible += 1
            if need.constraints and not self._keeps(need.constraints, device):
                continue
            self._take(index)
            self.picks.append((ask, index))
            missing -= 1
            if not missing:
                return True
        return False

    def _take(self, place: int) -> None:
        """Note that a device is taken."""
        self.busy |= 1 << place

    def _free(self, need: Need, judge: Judge) -> Iterator[tuple[int, DeviceRow]]:
        """Yield the devices that could be had by themselves, with their places."""
        offset = 0
        for row in self._rows:
            busy = self.busy >> offset
            known = self._chosen.get((need.criteria, row))
            if known is None:
                known = self._chosen[need.criteria, row] = judge.choosing(row)
            allows, chosen = known
            for index, device in enumerate(row.devices):
                if busy >> index & 1:
                    continue
                wanted = chosen[index]
                if wanted is None:
                    wanted = chosen[index] = allows(device)
                if wanted:
                    yield offset + index, device
            offset += len(row.devices)

    def _keeps(self, numbers: Sequence[int], device: DeviceRow) -> bool:
        """Return whether a device goes with those picked before; its values are noted then."""
        found: list[tuple[int, Hashable]] = []
        for number in numbers:
            said = valued(self._constraints[number]((device,)), {device: 1})
            if not said.holders:
                return False
            (value, _), *_ = said.holders
            if value is None:
                raise Special
            if not self._goes_with(said, value, self._values[number]):
                return False
            found.append((number, value))
        for number, value in found:
            self._values[number].add(value)
        return True

    def _goes_with(self, said: Valued, value: Hashable, before: set[Hashable]) -> bool:
        if said.agree:
            return not before or value in before
        if value in before:
            raise Special
        return True
