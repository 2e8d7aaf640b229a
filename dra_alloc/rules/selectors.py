"""
The CEL selectors of the class and of the request.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from dra_alloc.problem.devices import DeviceRow, SliceRow
from dra_alloc.problem.requests import Ask
from dra_alloc.profiles import Trait
from dra_alloc.rules.base import About, Context, Pick, Reason, Rule


class Selectors(Rule):
    """
    Every class selector, then every request selector, has to be true of the device.

    A selector that fails on a device that is looked at ends the search.

    Spec: SEL-1, SEL-2, SEL-3.
    """

    code = "selector-mismatch"
    about = About.SELECTORS
    spec = ("SEL-1", "SEL-2", "SEL-3")
    gathers = True
    fixed = True
    __slots__ = ("_alike", "_context", "_kinds", "_memo", "_memo_shared", "_selects")

    def __init__(self, context: Context) -> None:
        self._context = context
        self._selects = context.selects
        self._memo_shared = context.profile.shows(Trait.ALL_MEMO_SHARED)
        # Requests with equal selectors share what is known: by request id, one of them.
        self._alike: dict[int, int] = {}
        self._kinds: dict[Hashable, int] = {}
        self._memo = context.refused

    def rejects(self, ask: Ask, device: DeviceRow) -> bool:
        kind = self._alike.get(ask.id)
        if kind is None:
            kind = self._alike[ask.id] = self._kinds.setdefault((ask.class_name, ask.wire.selectors), ask.id)
        if self._context.asks_once:
            return not self._selects(ask, device)
        key = (kind, device)
        known = self._memo.get(key)
        if known is None:
            known = self._memo[key] = not self._selects(ask, device)
        return known

    def allows(self, ask: Ask, device: DeviceRow) -> bool:
        # Asked once a device, so that nothing need be remembered.
        return self._selects(ask, device)

    def passes(self, ask: Ask, row: SliceRow) -> bool:
        return self._context.selects_of(ask, row) is True

    def bars(self, ask: Ask, row: SliceRow) -> bool:
        return self._context.selects_of(ask, row) is False

    def why(self, ask: Ask, device: DeviceRow) -> Reason:
        return Reason(*self._context.explain_selector(ask, device))

    def violations(self, picks: Sequence[Pick]) -> Iterable[str]:
        for ask, device in picks:
            if self._memo_shared and ask.all_devices and ask.full_name != ask.request_name:
                continue  # the alternative may have been recorded by the selectors of the first one
            if not self._selects(ask, device):
                yield f"{device.key} does not match the selectors of {ask.full_name}"
