"""
Consumable capacity: shares of one device draw on its capacity, rounded by its request policy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from dra_alloc.api import Quantity
from dra_alloc.api.amounts.text import NANO
from dra_alloc.problem.devices import DeviceKey, DeviceRow, SliceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Profile, Trait
from dra_alloc.rules.base import About, Context, Pick, Reason, Rule, SearchStopped
from dra_alloc.rules.capacity.policy import AmountError, Arithmetic, consumed_amount, violates_policy
from dra_alloc.rules.capacity.spelling import asked, full_name, offered, spelling, totals
from dra_alloc.rules.facts import Draw, Ends, Fact, Looser

_NOTHING: Final[Mapping[str, int]] = {}
#: Claims that are told of a device of which too little is left.
_MOST_HOLDERS: Final = 3

#: What an answer says where the scheduler crashes.
PANICS: Final = "kube-scheduler panics"


def consumption(device: DeviceRow, ask: Ask, profile: Profile) -> Mapping[str, Quantity] | None:
    """
    Return what a share of the device would consume, for every capacity it has.

    None if the request names a capacity the device lacks, or an amount its
    policy does not allow. An amount that cannot be computed comes first.
    What is settled for a request is not computed again.

    Spec: CAP-4, CAP-7, CAP-13, GROW-4.
    Raises: AmountError.
    """
    if ask.settled is not None:
        return ask.settled
    requested = asked(ask, device, profile)
    if requested is None:
        return None
    arithmetic = Arithmetic.of(profile)
    amounts: dict[str, Quantity] = {}
    for name, capacity in offered(device, profile).items():
        try:
            amounts[name] = consumed_amount(capacity, requested.get(name), arithmetic)
        except AmountError as error:
            raise AmountError(f'capacity "{full_name(name, device, profile)}": {error}') from None
    for name, amount in amounts.items():
        policy = device.capacity[name].request_policy
        if policy is not None and violates_policy(policy, amount, arithmetic):
            return None
    return amounts


def amounts_of(device: DeviceRow, name: str, consumed: Mapping[str, int], profile: Profile) -> Iterator[int]:
    """Yield what is left of a device's capacity, and the amounts that its policy names, in units of 1e-9."""
    own = spelling(name, device, profile)
    if own is not None:
        yield device.capacity[own].value.nano - totals(consumed, device, profile).get(own, 0)
        policy = device.capacity[own].request_policy
        if policy is not None:
            yield from (value.nano for value in policy.valid_values)


def panic(claim: str, ask: Ask, device: DeviceRow) -> SearchStopped:
    """
    Return the answer where a request gets more devices than the slice of its next one has.

    Spec: OLD-7.
    """
    return SearchStopped(
        f"claim {claim}, request {ask.own_name}: {PANICS} on {device.key}",
        code="scheduler-panics",
    )


def capacity_held(
    consumed: Mapping[DeviceKey, Mapping[str, int]], device: DeviceRow, profile: Profile
) -> Mapping[str, int]:
    """Return what shares of the device consume already, by its spelling."""
    return totals(consumed.get(device.key, _NOTHING), device, profile)


class ConsumedCapacity(Rule):
    """
    What is consumed already, what is picked and the request itself fit into every capacity.

    A dedicated device is checked the same way but consumes nothing. An amount
    that cannot be computed ends the search.

    Spec: CAP-4, CAP-5, CAP-6, CAP-7.
    """

    code = "capacity-exhausted"
    about = About.CAPACITY
    spec = ("CAP-4", "CAP-5", "CAP-6", "CAP-7")
    gathers = True
    __slots__ = (
        "_amounts",
        "_consumed",
        "_context",
        "_in_flight",
        "_leaks",
        "_of_another",
        "_shares",
        "_skips_exhausted",
        "_taken",
    )

    def __init__(self, context: Context) -> None:
        self._context = context
        self._consumed = context.usage.consumed
        self._in_flight = context.in_flight
        self._leaks = context.profile.shows(Trait.REFUSAL_LEAKS)
        self._skips_exhausted = context.profile.shows(Trait.ALL_SKIPS_EXHAUSTED)
        self._amounts: dict[tuple[int, DeviceRow], Mapping[str, int] | None] = {}
        self._of_another = context.profile.shows(Trait.CAPACITY_OF_ANOTHER)
        self._taken: dict[tuple[int, str], int] = {}
        self._shares: dict[DeviceKey, int] = {}

    def _takes(self, ask: Ask, device: DeviceRow) -> Mapping[str, int] | None:
        key = (ask.id, device)
        if key not in self._amounts:
            try:
                amounts = consumption(device, ask, self._context.profile)
            except AmountError as error:
                raise self._stopped(ask, str(device.key), error) from None
            self._amounts[key] = None if amounts is None else {name: amount.nano for name, amount in amounts.items()}
        return self._amounts[key]

    def _stopped(self, ask: Ask, device: str, error: AmountError) -> SearchStopped:
        who = f"claim {self._context.claim_name(ask)}, request {ask.own_name}"
        return SearchStopped(f"{who}: checking capacity for device {device}: {error}", code="capacity-amount")

    def rejects(self, ask: Ask, device: DeviceRow) -> bool:
        if not device.capacity and not ask.capacity:
            return False
        return not self._fits(ask, device)

    def _fits(self, ask: Ask, device: DeviceRow) -> bool:
        takes = self._takes(ask, device)
        return takes is not None and self._short(device, takes) is None

    def leaves_out(self, ask: Ask, device: DeviceRow) -> bool:
        if self._skips_exhausted:
            return self.rejects(ask, device)
        try:
            consumption(device, ask, self._context.profile)
        except AmountError as error:
            raise self._stopped(ask, device.key.device, error) from None
        takes = self._takes(ask, device)
        return takes is None or any(amount > device.capacity[name].value.nano for name, amount in takes.items())

    def _short(self, device: DeviceRow, takes: Mapping[str, int]) -> str | None:
        consumed = self._held(device)
        flying = self._in_flight.get(device.key, {})
        for name, amount in takes.items():
            total = consumed.get(name, 0) + flying.get(name, 0) + amount
            if total > device.capacity[name].value.nano:
                return name
        return None

    def _held(self, device: DeviceRow) -> Mapping[str, int]:
        return capacity_held(self._consumed, device, self._context.profile)

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        if self._of_another:
            if self._rejects_another(ask, device):
                return False
            self._taken[ask.request] = self._taken.get(ask.request, 0) + 1
        elif self.rejects(ask, device):
            return False
        if device.shareable:
            self._draw(ask, device)
        return True

    def _draw(self, ask: Ask, device: DeviceRow) -> None:
        takes = self._takes(ask, device) or {}
        flying = self._in_flight.setdefault(device.key, {})
        for name, amount in takes.items():
            flying[name] = flying.get(name, 0) + amount
        self._shares[device.key] = self._shares.get(device.key, 0) + 1

    def _rejects_another(self, ask: Ask, device: DeviceRow) -> bool:
        """
        Return the verdict on the device of the slice at the position of the pick's number.

        Spec: OLD-7. Raises: SearchStopped where there is none; upstream panics.
        """
        position = self._taken.get(ask.request, 0)
        if position >= len(device.slice.devices):
            raise panic(self._context.claim_name(ask), ask, device)
        return not self._fits(ask, device.slice.devices[position])

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        if self._of_another:
            self._taken[ask.request] -= 1
        if device.shareable:
            self._give_back(ask, device)

    def _give_back(self, ask: Ask, device: DeviceRow) -> None:
        takes = self._takes(ask, device) or {}
        flying = self._in_flight.get(device.key, {})
        for name, amount in takes.items():
            # What was forgotten meanwhile is not given back.
            if name in flying:
                flying[name] -= amount
        self._shares[device.key] -= 1
        last = bool(takes) and not any(flying.values()) if self._leaks else not self._shares[device.key]
        if last:
            self._in_flight.pop(device.key, None)

    @property
    def sound(self) -> bool:
        return not self._of_another

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        draws = [draw for device in devices if device.shareable for draw in self._draws(asks, device)]
        if self._of_another:
            yield from self._seen_through_another(asks, devices, draws)
        else:
            yield from draws

    def _draws(self, asks: Sequence[Ask], device: DeviceRow) -> Iterable[Draw]:
        if not device.capacity:
            return
        takes = [(ask.id, takes) for ask in asks if (takes := self._takes_if_any(ask, device)) is not None]
        consumed = self._held(device)
        for name, capacity in offered(device, self._context.profile).items():
            left = capacity.value.nano - consumed.get(name, 0)
            amounts = {(ask, device): amounts[name] for ask, amounts in takes if amounts[name]}
            # Without anything left no request is allowed, not even one that takes nothing.
            if amounts and left >= 0:
                yield Draw(f"capacity {name} of {device.key}", left, by_request=amounts)

    def _takes_if_any(self, ask: Ask, device: DeviceRow) -> Mapping[str, int] | None:
        try:
            return self._takes(ask, device)
        except SearchStopped:
            # Looking at it ends the search, so that nothing is ever taken of it.
            return None

    def _seen_through_another(
        self, asks: Sequence[Ask], devices: Sequence[DeviceRow], draws: Sequence[Draw]
    ) -> Iterable[Fact]:
        """Yield what is left of the law where a pick looks at the capacity of another device."""
        yield Ends({device: len(device.slice.devices) for device in devices})
        counts = {ask.id: ask.count for ask in asks}
        tight = {
            device
            for draw in draws
            for _, device in draw.by_request
            if sum(max(amount, 0) * counts[ask] for (ask, _), amount in draw.by_request.items()) > draw.limit
        }
        if any(self._could_refuse(ask, looked_at, tight) for ask, looked_at in _looked_at(asks, devices)):
            yield Looser("a device refused for the capacity of another stays in use", leaks=True)
        # Nothing asks a device of All for its own capacity.
        unasked = {device for ask in asks if ask.all_devices for device in ask.recorded}
        if unasked & tight:
            yield Looser("a device can give more than it has to requests for all")
        yield from (draw for draw in draws if not any(device in unasked for _, device in draw.by_request))

    def _could_refuse(self, ask: Ask, device: DeviceRow, tight: Collection[DeviceRow]) -> bool:
        return device in tight or not self._fits(ask, device)

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        # What All has to take is not asked for its own capacity.
        return (self._of_another and ask.all_devices) or not self.rejects(ask, device)

    def passes(self, ask: Ask, row: SliceRow) -> bool:
        # Without policies all of a device is taken, which is what it has.
        return row.plain and not ask.capacity

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        takes = self._takes(ask, device)
        if takes is None:
            profile = self._context.profile
            missing = [name for name, _ in ask.capacity if spelling(name, device, profile) is None]
            if missing:
                return Reason("capacity-missing", f"no capacity {', '.join(missing)}")
            return Reason("capacity-policy", "its request policy does not allow the amount asked for")
        name = self._short(device, takes)
        if name is None:
            return super().why(ask, device)
        whole = device.capacity[name].value
        left = whole.nano - self._held(device).get(name, 0) - self._in_flight.get(device.key, {}).get(name, 0)
        wanted, free = (Quantity.of(nano, whole.format, NANO) for nano in (takes[name], max(left, 0)))
        held, holders = self._held(device).get(name, 0), self._context.holders(device.key)
        by = f" ({_holding(holders, Quantity.of(held, whole.format, NANO))})" if held and holders else ""
        return Reason(self.code, f"capacity {name}: {wanted} needed, {free} of {whole} left{by}", holders)

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        used: dict[DeviceRow, dict[str, int]] = {}
        for ask, device in picks:
            takes = consumption(device, ask, self._context.profile)
            if takes is None:
                yield f"{device.key} does not offer the capacity that {ask.full_name} asks for"
                continue
            taken = used.setdefault(device, dict(self._held(device)))
            for name, amount in takes.items():
                if taken.get(name, 0) + amount.nano > device.capacity[name].value.nano:
                    yield f"capacity {name} of {device.key} is overdrawn"
                if device.shareable:
                    taken[name] = taken.get(name, 0) + amount.nano


def _looked_at(asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[tuple[Ask, DeviceRow]]:
    """Yield the devices whose capacity could be looked at for picks of each request."""
    slices = dict.fromkeys(device.slice for device in devices)
    for ask in asks:
        if ask.all_devices:
            own = enumerate(ask.recorded)
            yield from ((ask, row.slice.devices[place]) for place, row in own if place < len(row.slice.devices))
        else:
            yield from ((ask, device) for each in slices for device in each.devices[: ask.count])


def _holding(claims: Sequence[str], amount: Quantity) -> str:
    """Return how much of a capacity claims hold together."""
    more = f" and {len(claims) - _MOST_HOLDERS} more" if len(claims) > _MOST_HOLDERS else ""
    return f"{', '.join(claims[:_MOST_HOLDERS])}{more} {'holds' if len(claims) == 1 else 'hold'} {amount}"
