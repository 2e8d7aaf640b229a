"""
A dedicated device serves one claim; admin access may look over its shoulder.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dra_alloc.problem.devices import DeviceKey, DeviceRow, SliceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Trait
from dra_alloc.rules.base import About, Context, Pick, Reason, Rule
from dra_alloc.rules.facts import Dedicated, Fact


class ExclusiveUse(Rule):
    """
    Without admin access: not a device that is allocated or picked by any claim.
    With admin access: only not twice for the same claim. A device that is
    dedicated by now is not taken either while shares of it are held.

    Spec: USE-1, USE-2, USE-3, USE-4.
    """

    code = "device-in-use"
    about = About.USE
    spec = ("USE-1", "USE-2", "USE-3", "USE-4")
    __slots__ = ("_context", "_exclusive", "_keeps_shares", "_sharing", "_users")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._exclusive = context.usage.exclusive
        self._sharing = context.profile.shares
        self._keeps_shares = not context.profile.shows(Trait.SHARED_GIVEN_WHOLE)
        self._users: dict[DeviceKey, list[int]] = {}

    def rejects(self, ask: Ask, device: DeviceRow) -> bool:
        users = self._users.get(device.key)
        if ask.admin:
            return users is not None and ask.claim in users
        return users is not None or device.key in self._exclusive

    def add(self, ask: Ask, device: DeviceRow) -> bool:
        if self.rejects(ask, device) or self._shared(ask, device):
            return False
        if not (device.shareable and self._sharing):
            self._users.setdefault(device.key, []).append(ask.claim)
        return True

    def remove(self, ask: Ask, device: DeviceRow) -> None:
        users = self._users.get(device.key)
        if users is not None and not (device.shareable and self._sharing):
            users.remove(ask.claim)
            if not users:
                del self._users[device.key]

    def _shared(self, ask: Ask, device: DeviceRow) -> bool:
        dedicated = self._keeps_shares and not ask.admin and not (device.shareable and self._sharing)
        return dedicated and self._context.usage.shares(device.key)

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        return not self.rejects(ask, device) and not self._shared(ask, device)

    def passes(self, ask: Ask, row: SliceRow) -> bool:
        # Where nothing is allocated or picked nothing is in use.
        return True

    def encode(self, asks: Sequence[Ask], devices: Sequence[DeviceRow]) -> Iterable[Fact]:
        yield Dedicated(frozenset(device for device in devices if not (device.shareable and self._sharing)))

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        if (device.key in self._exclusive and not ask.admin) or self._shared(ask, device):
            holders = self._context.holders(device.key)
            return Reason(self.code, "allocated to " + (", ".join(holders) or "another claim"), holders)
        return Reason("device-picked", "chosen already")

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        taken: dict[DeviceKey, list[Ask]] = {}
        for ask, device in picks:
            if device.shareable and self._sharing:
                if not ask.admin and device.key in self._exclusive:
                    yield f"{device.key} is allocated exclusively"
                continue
            others = taken.setdefault(device.key, [])
            if ask.admin:
                if any(other.claim == ask.claim for other in others):
                    yield f"{device.key} is taken twice by one claim"
            elif others or device.key in self._exclusive or self._shared(ask, device):
                yield f"{device.key} is not free"
            others.append(ask)
