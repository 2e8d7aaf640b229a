"""
A search that comes to an invalid pool ends there, where pools are taken as they are seen.
"""

from __future__ import annotations

from collections.abc import Iterable

from dra_alloc.problem.devices import DeviceRow
from dra_alloc.problem.pools import Pool
from dra_alloc.problem.requests import Ask
from dra_alloc.rules.base import Rule, SearchStopped


class ValidPool(Rule):
    """
    Looking at a device of an invalid pool is an error.

    Spec: OLD-2.
    """

    code = "pool-invalid"
    spec = ("OLD-2",)
    __slots__ = ("_invalid",)

    def __init__(self, pools: Iterable[Pool]) -> None:
        self._invalid = {pool.key: pool.invalid for pool in pools if pool.invalid}

    @property
    def sound(self) -> bool:
        return not self._invalid

    def rejects(self, ask: Ask, device: DeviceRow) -> bool:
        reason = self._invalid.get(device.pool)
        if reason is None:
            return False
        raise SearchStopped(f"pool {device.pool.pool} is invalid: {reason}", code=self.code)
