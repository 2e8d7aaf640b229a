"""
What picks draw on counters, budget by budget.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from dra_alloc.problem.devices import DeviceRow

_Counter = tuple[str, str]


class Charges:
    """What is drawn so far, in 1e-9 units."""

    __slots__ = ("_drawn",)

    def __init__(self) -> None:
        self._drawn: dict[Hashable, dict[_Counter, int]] = {}

    def of(self, budget: Hashable) -> Mapping[_Counter, int]:
        """Return what is drawn from a budget."""
        return self._drawn.get(budget, {})

    def draw(self, budget: Hashable, device: DeviceRow) -> None:
        """Charge a pick of the device."""
        drawn = self._drawn.setdefault(budget, {})
        for counter_set, name, amount in device.consumes:
            drawn[counter_set, name] = drawn.get((counter_set, name), 0) + amount

    def give_back(self, budget: Hashable, device: DeviceRow) -> None:
        """Reverse one `draw`."""
        drawn = self._drawn[budget]
        for counter_set, name, amount in device.consumes:
            drawn[counter_set, name] -= amount


class SharedCharges(Charges):
    """
    Charges where a wide amount and what is drawn can be one and the same: upstream's defect.

    The first device that draws on a counter lends its own amount to keep
    count. What is drawn afterwards changes that amount, and giving the device
    back leaves nothing of either.

    Spec: GROW-5.
    """

    __slots__ = ("_lender", "_own")

    def __init__(self) -> None:
        super().__init__()
        self._lender: dict[tuple[Hashable, _Counter], DeviceRow | None] = {}
        self._own: dict[tuple[DeviceRow, _Counter], int] = {}

    def draw(self, budget: Hashable, device: DeviceRow) -> None:
        drawn = self._drawn.setdefault(budget, {})
        for counter_set, name, amount in device.consumes:
            counter = (counter_set, name)
            if counter in drawn:
                self._add(budget, counter, self._own.get((device, counter), amount))
                continue
            drawn[counter] = self._own.get((device, counter), amount)
            self._lender[budget, counter] = device if counter in device.wide_counters else None

    def give_back(self, budget: Hashable, device: DeviceRow) -> None:
        for counter_set, name, amount in device.consumes:
            counter = (counter_set, name)
            self._add(budget, counter, -self._own.get((device, counter), amount))

    def _add(self, budget: Hashable, counter: _Counter, amount: int) -> None:
        drawn = self._drawn[budget]
        drawn[counter] += amount
        lender = self._lender[budget, counter]
        if lender is not None:
            self._own[lender, counter] = drawn[counter]
