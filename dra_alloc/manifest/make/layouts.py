"""
What a slice's devices are called and have, column by column, noted while they are fresh in the processor's caches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import repeat
from operator import attrgetter
from typing import Any, Final

import msgspec

from dra_alloc.api import Device, DeviceAttribute
from dra_alloc.manifest.make.outlines import Outline, outline_of, versions_of


class DeviceNames:
    """The names of the devices of a slice, in order."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self.repeat = len(frozenset(names)) < len(names)

    @cached_property
    def bits(self) -> Mapping[str, int]:
        """The places of each name as a bit mask; several devices may have one name."""
        bits: dict[str, int] = {}
        for index, name in enumerate(self.names):
            bits[name] = bits.get(name, 0) | 1 << index
        return bits

    def mask(self, names: frozenset[str]) -> int:
        """Return the places of distinct names as a bit mask; names that no device has are passed over."""
        # No two names have a place in common.
        return sum(map(self.bits.get, names, repeat(0)))


class Layout:
    """
    What was noted of one slice: an outline of its devices, their names, and their attributes by column.

    `attributes` names the attributes that every device has, in order, and
    `columns` says for each what the devices have, in a form that is equal for
    equal values only; both are None where devices differ in what they have.
    Slices share the equal parts.
    """

    __slots__ = ("attributes", "columns", "names", "outline")

    def __init__(
        self,
        outline: Outline,
        names: DeviceNames | None = None,
        attributes: tuple[str, ...] | None = None,
        columns: tuple[bytes, ...] | None = None,
    ) -> None:
        self.outline = outline
        self.names = names
        self.attributes = attributes
        self.columns = columns


class Layouts:
    """Makes the layouts of the slices of one load."""

    __slots__ = ("_attributes", "_columns", "_names", "_outlines")

    def __init__(self) -> None:
        self._outlines: dict[Outline, Outline] = {}
        self._names: dict[tuple[str, ...], DeviceNames] = {}
        self._attributes: dict[tuple[str, ...], tuple[str, ...]] = {}
        # The versions of each column.
        self._columns: dict[bytes, tuple[bytes, frozenset[str | None]]] = {}

    def of(self, devices: Sequence[Device]) -> Layout:
        """Return the layout of devices."""
        # Asked of every slice of a cluster: nothing here may call Python code for a device or an attribute.
        maps: list[Any] = list(map(_ATTRIBUTES, devices))
        labels = list(map(tuple, maps))
        if not labels or labels.count(labels[0]) < len(labels):
            return Layout(self.shared(outline_of(devices)), self._named(devices))
        try:
            columns = self._noted(list(zip(*map(dict.values, maps), strict=True)))
        except TypeError:  # Devices that were not read at native speed.
            return Layout(self.shared(outline_of(devices)), self._named(devices))
        names = self._named(devices)
        versions = [each for _, each in columns if each]
        outline = outline_of(devices, names.repeat, frozenset().union(*versions) if versions else _NONE)
        attributes = self._attributes.setdefault(labels[0], labels[0])
        return Layout(self.shared(outline), names, attributes, tuple([text for text, _ in columns]))

    def shared(self, outline: Outline) -> Outline:
        """Return the outline that is equal; most slices have the same to say."""
        return self._outlines.setdefault(outline, outline)

    def _named(self, devices: Sequence[Device]) -> DeviceNames:
        names = tuple(map(_NAME, devices))
        return self._names.get(names) or self._names.setdefault(names, DeviceNames(names))

    def _noted(self, columns: Sequence[Sequence[DeviceAttribute]]) -> list[tuple[bytes, frozenset[str | None]]]:
        """Return the columns as texts with their versions. Raises: TypeError for attributes that are no records."""
        texts = list(map(_ENCODE, columns))
        found = list(map(self._columns.get, texts))
        if None in found:
            for place, (text, column) in enumerate(zip(texts, columns, strict=True)):
                if found[place] is None:
                    found[place] = self._columns[text] = text, versions_of(column)
        return found  # type: ignore[return-value]  # none is missing now


_NONE: Final[frozenset[str | None]] = frozenset()
_ENCODE: Final = msgspec.msgpack.Encoder().encode
_ATTRIBUTES: Final = attrgetter("attributes")
_NAME: Final = attrgetter("name")
