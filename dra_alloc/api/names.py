"""Identities of devices and pools."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["DeviceID", "PoolID", "SharedDeviceID"]


class PoolID(NamedTuple):
    """A pool: names are unique per driver only."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return "/".join(self)


class DeviceID(NamedTuple):
    """A device in the cluster; prints as ``driver/pool/device``."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return "/".join(self)


class SharedDeviceID(NamedTuple):
    """One share of a device that several claims hold; an empty `share_id` is an exclusive hold."""

    driver: str
    pool: str
    device: str
    share_id: str = ""

    def __str__(self) -> str:
        return "/".join(self)
