"""
Depth-first search in upstream's order: the first complete solution wins.

Upstream recurses; here the open choices lie on an explicit stack, so that
neither many claims nor deep backtracking can exhaust Python's own. `steps`
counts what upstream counts, one per recursive call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final

from msgspec import Struct

from dra_alloc.limits import ALLOCATION_RESULTS_MAX
from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.requests import Ask, ClaimRow
from dra_alloc.rules import Pick, Rule, RuleSet, SearchStopped

_BUDGET_CHECK: Final = 64
#: Refusals by what was picked before, after which the first check comes early: on wide nodes steps are dear.
_MANY_REFUSED: Final = 256


class _Signal(Enum):
    """How one step ended: request served, nothing fits, or the claim would get too many results."""

    SERVED = auto()
    FAILED = auto()
    TOO_MANY = auto()


class Frame(Struct, eq=False):
    """
    An open choice to come back to.

    `taken` devices of the request came before it; `index` is the candidate or
    alternative chosen.
    """

    kind: int
    claim: int
    request: int
    ask: Ask | None
    taken: int
    index: int
    only_too_many: bool = True


_NEXT_CLAIM: Final = 0
_ALTERNATIVE: Final = 1
_DEVICE: Final = 2
ALL_DEVICE: Final = 3


class FirstFit:
    """
    One search over claims and candidate devices; use it once. `upstream.first_fit` makes the one of a release.

    `furthest` is the largest set of picks that was reached; `refused` counts
    devices that could not be taken.

    `tick` is called with the steps made, every few hundred of them; it stops
    the search by raising.
    """

    def __init__(
        self,
        claims: Sequence[ClaimRow],
        candidates: Sequence[DeviceRow],
        rules: RuleSet,
        *,
        tick: Callable[[int], None],
    ) -> None:
        self._claims = claims
        self._candidates = candidates
        self._rules = rules
        self._tick = tick
        self._frames: list[Frame] = []
        self._taken = [0] * len(claims)
        self._take_rules: dict[int, tuple[Rule, ...]] = {}
        # Per request, 1 for each candidate that is passed over for good.
        self._passed: dict[int, bytearray] = {}
        self.picks: list[Pick] = []
        self.furthest: tuple[Pick, ...] = ()
        self.steps = 0
        self.refused = 0
        self._patience = _MANY_REFUSED

    def run(self) -> bool:
        """
        Return whether a solution was found; it is in `picks` and `selected` then.

        Spec: SEARCH-1..SEARCH-9.
        Raises: SearchStopped, BudgetExhausted.
        """
        claim = request = taken = start = 0
        ask: Ask | None = None
        while True:
            self.steps += 1
            if not self.steps % _BUDGET_CHECK or self.refused > self._patience:
                self._patience = sys.maxsize
                self._tick(self.steps)
            if claim == len(self._claims):
                if self._complete():
                    return True
                resumed = self._backtrack(_Signal.FAILED)
                if resumed is None:
                    return False
                claim, request, ask, taken, start = resumed
                continue
            requests = self._claims[claim].requests
            if request == len(requests):
                self._frames.append(Frame(_NEXT_CLAIM, claim, request, None, 0, 0))
                claim, request, ask, taken, start = claim + 1, 0, None, 0, 0
                continue
            if ask is None:
                ask = requests[request].asks[0]
                if requests[request].prioritized:
                    self._frames.append(Frame(_ALTERNATIVE, claim, request, ask, 0, 0))
                    continue
            signal = self._advance(claim, request, ask, taken, start)
            if signal is None:
                frame = self._frames[-1]
                ask, taken, start = self._going_on(frame, ask), taken + 1, self._start_after(frame.index)
                continue
            if signal is _Signal.SERVED:
                request, ask, taken, start = request + 1, None, 0, 0
                continue
            resumed = self._backtrack(signal)
            if resumed is None:
                return False
            claim, request, ask, taken, start = resumed

    def _complete(self) -> bool:
        """Return whether every rule is content now that everything is picked."""
        return all(rule.complete(self.picks) for rule in self._rules.take)

    def _start_after(self, index: int) -> int:
        """Return the candidate from which on a request goes on after it took that one."""
        return index + 1

    def _going_on(self, frame: Frame, ask: Ask) -> Ask:
        """Return what is served after the device of the frame was taken."""
        return ask

    def _given_back(self, ask: Ask, device: DeviceRow, asked: Sequence[Rule]) -> Sequence[Rule]:
        """Return the rules to undo, newest first, after the last of those asked refused the device."""
        return asked[-2::-1]

    @property
    def selected(self) -> dict[tuple[int, int], Ask]:
        """Return the alternative that was chosen, by claim and request index."""
        return {
            (frame.claim, frame.request): frame.ask
            for frame in self._frames
            if frame.kind == _ALTERNATIVE and frame.ask is not None
        }

    @property
    def settled(self) -> Sequence[Pick]:
        """Return the picks with what they consume."""
        settled: Sequence[Pick] = self.picks
        for rule in self._rules.take:
            settled = rule.settled(settled)
        return settled

    def _advance(self, claim: int, request: int, ask: Ask, taken: int, start: int) -> _Signal | None:
        """Return None after taking one more device, SERVED if the request has all, else why it cannot go on."""
        if ask.all_devices and not ask.recorded:
            return _Signal.FAILED
        if taken >= ask.count:
            return _Signal.SERVED
        if self._taken[claim] + ask.count - taken > ALLOCATION_RESULTS_MAX:
            return _Signal.TOO_MANY
        if ask.all_devices:
            if not self._take(ask, ask.recorded[taken]):
                return _Signal.FAILED
            self._frames.append(Frame(ALL_DEVICE, claim, request, ask, taken, taken))
            return None
        index = self._next_device(ask, start)
        if index is None:
            return _Signal.FAILED
        self._frames.append(Frame(_DEVICE, claim, request, ask, taken, index))
        return None

    def _next_device(self, ask: Ask, start: int) -> int | None:
        """Return the index of the next candidate that could be taken, and was."""
        candidates = self._candidates
        rules = self._rules.candidate
        passed = self._passed.get(ask.id)
        if passed is None:
            passed = self._passed[ask.id] = bytearray(len(candidates))
        index = passed.find(0, start)
        while index >= 0:
            device = candidates[index]
            for rule in rules:
                if rule.rejects(ask, device):
                    passed[index] = rule.fixed
                    break
            else:
                if self._take(ask, device):
                    return index
            index = passed.find(0, index + 1)
        return None

    def _take(self, ask: Ask, device: DeviceRow) -> bool:
        rules = self._take_rules.get(ask.id)
        if rules is None:
            rules = self._take_rules[ask.id] = self._rules.take_for(ask)
        for position, rule in enumerate(rules):
            if not rule.add(ask, device):
                self.refused += 1
                for earlier in self._given_back(ask, device, rules[: position + 1]):
                    earlier.remove(ask, device)
                return False
        self.picks.append(Pick(ask, device))
        self._taken[ask.claim] += 1
        if len(self.picks) > len(self.furthest):
            self.furthest = tuple(self.picks)
        return True

    def _give_back(self) -> None:
        ask, device = self.picks.pop()
        self._taken[ask.claim] -= 1
        for rule in reversed(self._take_rules[ask.id]):
            rule.remove(ask, device)

    def _backtrack(self, signal: _Signal) -> tuple[int, int, Ask, int, int] | None:
        """
        Return where to go on after undoing to the closest choice with something left to try.

        Spec: SEARCH-6, SEARCH-7. Raises: SearchStopped.
        """
        frames = self._frames
        while frames:
            frame = frames.pop()
            if frame.kind == _NEXT_CLAIM:
                signal = _Signal.FAILED
            elif frame.kind == _ALTERNATIVE:
                signal, ask = self._next_alternative(frame, signal)
                if ask is not None:
                    return frame.claim, frame.request, ask, 0, 0
            else:
                self._give_back()
                if frame.kind == _DEVICE and signal is _Signal.FAILED and frame.ask is not None:
                    index = self._next_device(frame.ask, frame.index + 1)
                    if index is not None:
                        frame.index = index
                        frames.append(frame)
                        start = self._start_after(index)
                        return frame.claim, frame.request, frame.ask, frame.taken + 1, start
        if signal is _Signal.TOO_MANY:
            raise SearchStopped("allocation max size exceeded", code="too-many-devices")
        return None

    def _next_alternative(self, frame: Frame, signal: _Signal) -> tuple[_Signal, Ask | None]:
        if signal is _Signal.FAILED:
            frame.only_too_many = False
        asks = self._claims[frame.claim].requests[frame.request].asks
        frame.index += 1
        if frame.index < len(asks):
            frame.ask = asks[frame.index]
            self._frames.append(frame)
            return signal, frame.ask
        return (_Signal.TOO_MANY if frame.only_too_many else _Signal.FAILED), None
