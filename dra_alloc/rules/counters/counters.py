"""
Shared counters: partitions of one device draw on one budget.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from dra_alloc.api import Quantity
from dra_alloc.api.amounts.text import NANO, Format
from dra_alloc.problem.devices import DeviceRow, PoolKey, SliceRow
from dra_alloc.problem.pools import Pool
from dra_alloc.problem.requests import Ask
from dra_alloc.problem.usage import Usage
from dra_alloc.profiles import ALLOCATOR_FEATURES, Feature, Profile, Trait
from dra_alloc.rules.base import About, Context, Pick, Reason, Rule
from dra_alloc.rules.counters.charges import Charges, SharedCharges
from dra_alloc.rules.facts import Draw, Fact, Looser

_Counter = tuple[str, str]
_NONE: Final[frozenset[_Counter]] = frozenset()


def available_counters(pool: Pool, usage: Usage, profile: Profile) -> dict[_Counter, int]:
    """
    Return what earlier allocations leave of a pool's counters, in 1e-9 units; it may be negative.

    An allocated device is charged once, however many shares it has.

    Spec: COUNTER-2.
    """
    exclusive_only = profile.shows(Trait.EXCLUSIVE_STATE_ONLY)
    left = dict(pool.counters)
    for device in (*pool.devices, *pool.elsewhere):
        if not device.consumes:
            continue
        held = device.key in usage.exclusive if exclusive_only else usage.touches(device.key)
        if held:
            for counter_set, name, amount in device.consumes:
                if (counter_set, name) in left:
                    left[counter_set, name] -= amount
    return left


def _total(device: DeviceRow) -> dict[_Counter, int]:
    total: dict[_Counter, int] = {}
    for counter_set, name, amount in device.consumes:
        total[counter_set, name] = total.get((counter_set, name), 0) + amount
    return total


#: Holders that a reason names.
_MOST_HOLDERS: Final = 3


def _listed(parts: Sequence[str]) -> str:
    more = f" and {len(parts) - _MOST_HOLDERS} more" if len(parts) > _MOST_HOLDERS else ""
    return f"{', '.join(parts[:_MOST_HOLDERS])}{more}"


def _text(nano: int, form: Format) -> str:
    return str(Quantity.of(nano, form, NANO))


def _format(device: DeviceRow, counter: _Counter) -> Format:
    """Return the format in which the device writes what it draws on a counter."""
    uses = (each for each in device.wire.consumes_counters if each.counter_set == counter[0])
    written = (use.counters[counter[1]].value.format for use in uses if counter[1] in use.counters)
    return next(written, Format.DECIMAL_SI)


class CountersDisabled(Rule):
    """
    While the feature is off, a device that consumes counters is refused.

    Spec: COUNTER-6.
    """

    code = "counters-disabled"
    spec = ("COUNTER-6",)
    __slots__ = ()

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        return not device.draws

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        return not device.draws

    def passes(self, ask: Ask, row: SliceRow) -> bool:
        return not row.outline.consumes

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        gates = " or ".join(ALLOCATOR_FEATURES[Feature.PARTITIONABLE])
        return Reason(self.code, f"consumes counters, and {gates} is off")


class Counters(Rule):
    """
    After a pick, every counter of the device's pool must cover what is picked from the pool.

    Further shares of a device that is already shared are free.

    Spec: COUNTER-1, COUNTER-3, COUNTER-4, COUNTER-5, GROW-5.
    """

    code = "counter-exhausted"
    about = About.COUNTERS
    spec = ("COUNTER-1", "COUNTER-3", "COUNTER-4", "COUNTER-5")
    __slots__ = (
        "_by_name",
        "_charged",
        "_charges",
        "_context",
        "_covered",
        "_keeps",
        "_lends",
        "_lent",
        "_narrow",
        "_pools",
        "_sharing",
    )

    def __init__(self, context: Context) -> None:
        profile = context.profile
        self._context = context
        self._sharing = profile.shares
        self._keeps = profile.shows(Trait.SHARED_KEEPS_COUNTERS)
        self._by_name = profile.shows(Trait.COUNTERS_BY_POOL_NAME)
        self._pools: Mapping[PoolKey, Pool] = {pool.key: pool for pool in context.pools}
        self._lends = profile.shows(Trait.COUNTERS_SHARE_AMOUNTS)
        self._charges = SharedCharges() if self._lends else Charges()
        self._lent: dict[PoolKey, frozenset[_Counter]] = {}
        # Budgets that were found to cover all that is drawn: after one more device its own counters alone can be short,
        # but where pools of one name have one budget and each what is left of its own.
        self._covered: set[Hashable] = set()
        self._narrow = not self._by_name
        #: Per pick the device that is charged, if it is.
        self._charged: list[DeviceRow | None] = []

    @property
    def sound(self) -> bool:
        if self._by_name and len({key.pool for key in self._pools}) < len(self._pools):
            return False
        shared = (device for pool in self._pools.values() for device in pool.devices if device.shareable)
        return not (self._keeps and any(device.consumes for device in shared))

    def _budget(self, device: DeviceRow) -> Hashable:
        """Return what the device draws on with others."""
        return device.key.pool if self._by_name else device.pool

    def _left(self, device: DeviceRow) -> Mapping[_Counter, int]:
        """Return what earlier allocations leave of the counters that the device draws on."""
        return self._context.availability(self._pools[device.pool])

    def _is_further_share(self, device: DeviceRow) -> bool:
        if not self._is_shared(device):
            return False
        usage, profile = self._context.usage, self._context.profile
        if profile.shows(Trait.SHARES_CHARGED):
            return False
        if profile.shows(Trait.SHARE_WITHOUT_CAPACITY_CHARGED):
            return device.key in usage.consumed or device.key in self._context.in_flight
        return usage.shares(device.key) or device.key in self._context.in_flight

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        charged = device.draws and not self._is_further_share(device)
        if charged:
            budget = self._budget(device)
            self._charges.draw(budget, device)
            if not self._covers(budget, device):
                self._charges.give_back(budget, device)
                return False
        self._charged.append(device if charged else None)
        return True

    def _covers(self, budget: Hashable, device: DeviceRow) -> bool:
        """Return whether a budget covers what is drawn from it, now that the device has drawn."""
        flight, drawing = self._charges.of(budget), device.consumes
        # Who draws less than nothing, or an amount that changes, may take more once it is given back.
        steady = not (self._lends and device.wide_counters) and all(amount >= 0 for _, _, amount in drawing)
        self._narrow = self._narrow and steady
        if self._narrow and budget in self._covered:
            left = self._left(device)
            own = [(counter_set, name) for counter_set, name, _ in drawing]
            return all(counter not in left or flight[counter] <= left[counter] for counter in own)
        covers = self._short(device, flight) is None
        if covers:
            self._covered.add(budget)
        return covers

    def _short(self, device: DeviceRow, flight: Mapping[_Counter, int]) -> _Counter | None:
        for counter, amount in self._left(device).items():
            if amount < flight.get(counter, 0):
                return counter
        return None

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        charged = self._charged.pop() is not None
        if self._keeps:
            charged = device.draws and not (device.shareable and self._sharing)
        if charged:
            self._charges.give_back(self._budget(device), device)

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        if not device.draws or self._is_further_share(device) or self._is_mixed_up(device.pool):
            return True
        total = _total(device)
        lent = self._lent_in(device.pool)
        return not any(
            amount < total.get(counter, 0) for counter, amount in self._left(device).items() if counter not in lent
        )

    def passes(self, ask: Ask, row: SliceRow) -> bool:
        return not row.outline.consumes

    def _lent_in(self, pool: PoolKey) -> frozenset[_Counter]:
        """Return the counters to which a device of the pool could lend its own amount."""
        if not self._lends:
            return _NONE
        known = self._lent.get(pool)
        if known is None:
            devices = self._pools[pool].devices
            known = self._lent[pool] = frozenset(counter for device in devices for counter in device.wide_counters)
        return known

    def _is_mixed_up(self, pool: PoolKey) -> bool:
        """Return whether counters of another pool may be looked at instead of this one's."""
        return self._by_name and sum(key.pool == pool.pool for key in self._pools) > 1

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        consuming: dict[Hashable, list[DeviceRow]] = {}
        for device in devices:
            if device.consumes and not self._is_further_share(device):
                consuming.setdefault(self._budget(device), []).append(device)
        for drawing in consuming.values():
            pool = drawing[0].pool
            if self._is_mixed_up(pool):
                yield Looser(f"counters of different pools named {pool.pool} are mixed up")
            else:
                yield from self._draws(pool, drawing, admin=any(ask.admin for ask in asks))
        if self._keeps and any(self._is_shared(device) for drawing in consuming.values() for device in drawing):
            yield Looser("backtracking keeps the counters of shared devices")

    def _is_free_again(self, device: DeviceRow) -> bool:
        """Return whether further shares of the device draw on nothing."""
        return self._is_shared(device) and not self._context.profile.shows(Trait.SHARES_CHARGED)

    def _is_shared(self, device: DeviceRow) -> bool:
        return device.shareable and self._sharing

    def _draws(self, key: PoolKey, devices: Sequence[DeviceRow], *, admin: bool) -> Iterable[Fact]:
        by_counter: dict[_Counter, list[tuple[DeviceRow, int]]] = {}
        for device in devices:
            for counter, amount in _total(device).items():
                if amount:
                    by_counter.setdefault(counter, []).append((device, amount))
        lent = self._lent_in(key)
        free = frozenset(device for device in devices if self._is_free_again(device))
        for counter, left in self._left(devices[0]).items():
            drawing = by_counter.get(counter, [])
            if counter in lent:
                # At worst a lender takes once more what is drawn already.
                again = admin or any(self._is_shared(device) for device, _ in drawing)
                if again or 2 * sum(amount for _, amount in drawing) > left:
                    yield Looser("what a device takes of a counter changes with what others take")
                continue
            # A counter that is overdrawn already forbids every one of these devices: see `allows`.
            if not drawing or left < 0:
                continue
            yield Draw(
                f"counter {counter[1]} of counter set {counter[0]} in pool {key}",
                left,
                by_pick={device: amount for device, amount in drawing if device not in free},
                by_device={device: amount for device, amount in drawing if device in free},
            )

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        flight = dict(self._charges.of(self._budget(device)))
        for counter_set, name, amount in device.consumes:
            flight[counter_set, name] = flight.get((counter_set, name), 0) + amount
        short = self._short(device, flight)
        if short is None:
            return super().why(ask, device)
        return Reason(self.code, *self._told(device, short, flight.get(short, 0)))

    def _told(self, device: DeviceRow, counter: _Counter, flight: int) -> tuple[str, tuple[str, ...]]:
        """Return how much of a counter is needed, left and held by whom, and the claims that hold some."""
        needed, form = _total(device).get(counter, 0), _format(device, counter)
        left = self._left(device)[counter] - (flight - needed)
        whole = _text(self._pools[device.pool].counters.get(counter, 0), form)
        holding = self._holding(device, counter)
        held = _listed([f"{name} holds {_text(amount, form)}" for name, amount in holding])
        taken = _listed([f"{name} takes {_text(amount, form)}" for name, amount in self._taking(device, counter)])
        text = f"{_text(needed, form)} needed, {_text(max(left, 0), form)} of {whole} left"
        if left < 0:
            text = f"more is held than the {whole} that there are"
        told = f"{text}{f' once {taken}' if taken else ''}{f' ({held})' if held else ''}"
        return f'counter "{counter[1]}" of counter set {counter[0]}: {told}', tuple(name for name, _ in holding)

    def _taking(self, device: DeviceRow, counter: _Counter) -> Iterator[tuple[str, int]]:
        """Yield the devices picked so far that draw on the counter, with how much."""
        budget = self._budget(device)
        for other in self._charged:
            amount = _total(other).get(counter, 0) if other is not None and self._budget(other) == budget else 0
            if other is not None and amount:
                yield other.key.device, amount

    def _holding(self, device: DeviceRow, counter: _Counter) -> list[tuple[str, int]]:
        """Return the claims that hold devices drawing on the counter, with how much, the largest first."""
        holds: dict[str, int] = {}
        for other in self._pools[device.pool].devices:
            amount = _total(other).get(counter, 0) if other.draws else 0
            # What shares of one device draw they draw together.
            name = " and ".join(self._context.holders(other.key)) if amount else ""
            if name:
                holds[name] = holds.get(name, 0) + amount
        return sorted(holds.items(), key=lambda each: -each[1])

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        used: dict[Hashable, dict[_Counter, int]] = {}
        first: dict[Hashable, DeviceRow] = {}
        charged: set[DeviceRow] = set()
        usage = self._context.usage
        for _, device in picks:
            if not device.consumes:
                continue
            if device.shareable and self._sharing and (device in charged or usage.shares(device.key)):
                continue
            charged.add(device)
            home = self._home(device)
            first.setdefault(home, device)
            flight = used.setdefault(home, {})
            for counter_set, name, amount in device.consumes:
                flight[counter_set, name] = flight.get((counter_set, name), 0) + amount
        for home, flight in used.items():
            if self._lends and any(device.wide_counters for device in self._pools[first[home].pool].devices):
                continue
            left = self._available(first[home])
            for counter, amount in flight.items():
                if left.get(counter, amount) < amount:
                    pool = first[home].pool
                    yield f"counter {counter[1]} of counter set {counter[0]} in pool {pool} is overdrawn"

    def _home(self, device: DeviceRow) -> Hashable:
        """Return what holds the device's counters: its pool."""
        return device.pool

    def _available(self, device: DeviceRow) -> Mapping[_Counter, int]:
        return available_counters(self._pools[device.pool], self._context.usage, self._context.profile)
