"""
Slices as small integers: one for every distinct content of a column.

A column is what one attribute, one capacity, or everything else that rules look
at is, device by device. Slices with equal columns are alike for every question
that reads no more than these columns, whatever their devices are called.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import repeat
from operator import attrgetter, contains, itemgetter
from threading import Lock
from typing import Any, Final

import msgspec

from dra_alloc.api import DeviceAttribute, DeviceCapacity
from dra_alloc.api.semver import admits_version
from dra_alloc.cel import Reading, prepare_device
from dra_alloc.cel.reads import WHOLE, Read
from dra_alloc.problem.devices import SliceRow
from dra_alloc.remembered import Numbers, Remembered
from dra_alloc.solve.frames import Frames, amounts, exact

#: Reads every capacity with its request policy, as a request for capacity does.
AMOUNTS: Final = "amounts"

#: Versions of this length have no number beyond 64 bits.
_SHORT: Final = 20
_FRAME: Final = "frame"
_READABLE: Final = "readable"
#: Looks that a glance remembers before it starts anew, contents that have a number, attributes that are readable.
_MOST_LOOKS: Final = 1 << 14
_MOST_CONTENTS: Final = 1 << 15
_MOST_READABLE: Final = 1 << 12
#: Lenses after which all begins anew: slices remember what each of them sees.
_MOST_LENSES: Final = 128
#: Under what a slice remembers with which beginning it was looked at.
_BEGUN: Final = "begun"


class Columns:
    """
    The integers of one cluster and of all clusters derived from it.

    A slice remembers its own, so they live as long as it does.
    """

    __slots__ = ("_begun", "_columns", "_frames", "_glances", "_lenses", "_lock", "_readable", "_versions", "id")

    def __init__(self) -> None:
        #: The integer of a token; equal tokens have equal integers.
        self.id = Numbers(_MOST_CONTENTS).of
        self._begun = 0
        self._frames = Frames()
        self._readable: Remembered[tuple[Any, bool], bool] = Remembered(_MOST_READABLE)
        # Versions that can be read.
        self._versions: set[str | None] = set()
        self._columns: dict[tuple[Read | str, bool], _Column] = {}
        self._lenses: dict[tuple[tuple[Read | str, ...], bool], Lens] = {}
        # What was looked at in turn, and how many lenses there were by then.
        self._glances: tuple[int, tuple[_Glance, ...]] = 0, ()
        self._lock = Lock()

    def lens(self, reads: Sequence[Read | str], *, lists: bool) -> Lens:
        """Return what looks at slices with these reads only; `lists` says whether list-typed attributes are decoded."""
        key = tuple(reads), lists
        found = self._lenses.get(key)
        if found is None:
            with self._lock:
                if len(self._lenses) >= _MOST_LENSES:
                    self._columns, self._lenses, self._glances = {}, {}, (0, ())
                    self._begun += 1
                columns = [self._column(read, lists) for read in (_FRAME, _READABLE, *reads)]
                found = self._lenses.setdefault(key, Lens(self, columns))
        return found

    def look_at(self, row: SliceRow) -> dict[Hashable, int]:
        """
        Note all that any lens can tell of a slice, and return it: once its devices are at hand, more costs little.

        Slices that look alike share it.
        """
        lenses, glances = self._glances
        if lenses != len(self._lenses):
            glances = self._looking_further()
        known = row.columns
        if known.get(_BEGUN) != self._begun:
            known = {}
        for glance in glances:
            if glance.columns[0] not in known:
                token = glance.token(row)
                found = glance.known.get(token)
                if found is None:
                    if len(glance.known) >= _MOST_LOOKS:
                        glance.known = {}
                    found = glance.known[token] = self._noted(row, glance)
                known = {**known, **found} if known else found
        row.columns = known
        return known

    def _looking_further(self) -> tuple[_Glance, ...]:
        """Return the glances with one for the columns that are new since the last."""
        # Slices know a glance by its first column: one that other threads have looked with must not be replaced.
        with self._lock:
            glances = self._glances[1]
            # In this order: the columns of every lens are there before it is.
            lenses = tuple(self._lenses.values())
            old = {column for glance in glances for column in glance.columns}
            new = [column for column in tuple(self._columns.values()) if column not in old]
            if new:
                whole = [lens for lens in lenses if old.isdisjoint(lens.columns)]
                glances = (*glances, _Glance(new, whole, self._versions))
            self._glances = len(lenses), glances
        return glances

    def _noted(self, row: SliceRow, glance: _Glance) -> dict[Hashable, int]:
        found: dict[Hashable, int] = {column: self.id(column.token(row)) for column in glance.columns}
        found[_BEGUN] = self._begun
        for lens in glance.lenses:
            found[lens] = self.id((row.driver, *[found[column] for column in lens.columns]))
        return found

    def signature(self, row: SliceRow, reads: Sequence[Read | str], *, lists: bool) -> int:
        """Return the signature of a slice for questions with these reads."""
        return self.lens(reads, lists=lists).signature(row)

    def _column(self, read: Read | str, lists: bool) -> _Column:
        key = read, lists if read == _READABLE else False
        return self._columns.setdefault(key, _Column(read, self._token_maker(read, lists)))

    def _token_maker(self, read: Read | str, lists: bool) -> Callable[[SliceRow], Hashable]:
        if isinstance(read, Read):
            return _whole if read in WHOLE else _reader(read)
        if read == _FRAME:
            return self._frames.token
        if read == AMOUNTS:
            return _all_amounts
        return partial(self._readability, lists)

    def _readability(self, lists: bool, row: SliceRow) -> Hashable:
        # A device that no selector can be asked about must not answer for others.
        return True if self._is_readable(row, lists=lists) else object()

    def _is_readable(self, row: SliceRow, *, lists: bool) -> bool:
        # A text, number or boolean is always readable, unless it comes with a list of versions.
        versions = row.outline.versions
        if versions <= self._versions:
            return True
        if None not in versions:
            return all(self._is_version(each or "") for each in versions - self._versions)
        attributes = [each for device in row.wire.spec.devices for each in device.attributes.values()]
        unusual = [each for each in attributes if each.string is None and each.int_ is None and each.bool_ is None]
        if lists:
            unusual += [each for each in attributes if each.versions is not None]
        return all(self._is_read(each, lists) for each in unusual)

    def _is_version(self, text: str) -> bool:
        # What the API server admits has too large a number at worst.
        short = len(text) <= _SHORT and admits_version(text)
        readable = short or self._is_read(DeviceAttribute(version=text), lists=False)
        if readable and len(self._versions) < _MOST_READABLE:
            self._versions.add(text)
        return readable

    def _is_read(self, attribute: DeviceAttribute, lists: bool) -> bool:
        known = self._readable.get((attribute, lists))
        if known is None:
            problem = prepare_device("", {"a": attribute}, {}, None, Reading(lists)).problem
            known = self._readable.put((attribute, lists), not problem)
        return known


class _Column:
    """One thing looked at, device by device."""

    __slots__ = ("read", "token")

    def __init__(self, read: Read | str, token: Callable[[SliceRow], Hashable]) -> None:
        self.read = read
        self.token = token


class Lens:
    """
    Looks at slices with certain reads only.

    Slices with the same signature are the same to every question with these
    reads. Names, node and pool of the slice are not in it.
    """

    __slots__ = ("_all_columns", "_ids", "columns")

    def __init__(self, ids: Columns, columns: Sequence[_Column]) -> None:
        self._ids = ids
        self.columns = tuple(columns)
        self._all_columns = frozenset(columns)

    def signature(self, row: SliceRow) -> int:
        """Return the signature of a slice."""
        known = row.columns
        found = known.get(self)
        if found is None:
            if not known.keys() >= self._all_columns:
                # What it returns, not what the slice has: another thread may have looked with fewer lenses meanwhile.
                known = self._ids.look_at(row)
            found = known.get(self)
            if found is None:
                # Without what all have begun anew after, there is nothing but a look at each.
                number = self._ids.id
                numbers = [known[each] if each in known else number(each.token(row)) for each in self.columns]
                found = known[self] = number((row.driver, *numbers))
        return found


class _Glance:
    """
    Some columns, and the lenses that need no others, read off a slice in one go.

    `known` is what the columns and lenses make of slices, by what is seen of
    them: of slices that look alike throughout, one is looked at column by column.
    """

    __slots__ = ("_attributes", "_framed", "_getters", "_others", "_takers", "_versions", "columns", "known", "lenses")

    def __init__(self, columns: Sequence[_Column], lenses: Sequence[Lens], versions: AbstractSet[str | None]) -> None:
        self.columns = columns
        self.lenses = lenses
        self.known: dict[Hashable, dict[Hashable, int]] = {}
        self._versions = versions
        reads = [each.read for each in columns if isinstance(each.read, Read)]
        self._attributes = [each for each in reads if each.kind == "attribute"]
        # Of plain slices it is known what rules see besides; the driver is seen anyway.
        self._others = [
            each for each in columns if each.read not in (*self._attributes, _FRAME, _READABLE, Read("driver"))
        ]
        self._framed = [each for each in columns if each.read in (_FRAME, _READABLE) or each in self._others]
        # By driver: what reads the attributes off a device, and the names that must not be there for it to be right.
        self._getters: dict[str, tuple[Callable[[Any], Any], list[str]]] = {}
        # By driver and the attributes that devices have: what takes those to look at; None if it must be done by hand.
        self._takers: dict[Hashable, Callable[[Any], Any] | None] = {}

    def token(self, row: SliceRow) -> Hashable:
        """Return what is seen of a slice; slices with equal tokens have equal columns."""
        driver, outline = row.driver, row.outline
        getter, unusual = self._getters.get(driver) or self._getter(driver)
        plain = row.plain and outline.versions <= self._versions
        others = self._others if plain else self._framed
        noted = self._noted(row)
        if noted is not None:
            return (driver, plain, noted, *[column.token(row) for column in others])
        maps = list(map(_ATTRIBUTES, row.wire.spec.devices))
        for name in unusual:
            if any(map(contains, maps, repeat(name))):
                break
        else:
            try:
                # As bytes: records are slow to hash, and all of these are compared once.
                seen = _ENCODE(list(map(getter, maps)))
            except (KeyError, TypeError, ValueError):
                pass  # An attribute that some devices lack, or objects that are no records.
            else:
                return (driver, plain, seen, *[column.token(row) for column in others])
        return driver, tuple([column.token(row) for column in self.columns])

    def _noted(self, row: SliceRow) -> Hashable | None:
        """Return what was noted of the attributes when the slice was read; None if that does not tell."""
        layout = row.layout
        if layout is None or layout.columns is None or layout.names is None:
            return None
        key = row.driver, layout.attributes
        if key not in self._takers:
            self._takers[key] = self._taker(row.driver, layout.attributes or ())
        take = self._takers[key]
        # Without attributes to look at, the devices are counted all the same.
        return None if take is None else (len(layout.names.names), take(layout.columns))

    def _taker(self, driver: str, attributes: Sequence[str]) -> Callable[[Any], Any] | None:
        """Return what takes the columns of the attributes, those that are there; None where the names are not clear."""
        _, unusual = self._getters.get(driver) or self._getter(driver)
        if not frozenset(unusual).isdisjoint(attributes):
            return None
        names = self._names(driver)
        if not names:
            return _nothing
        # An attribute that none of the devices has must not be taken for another: by hand, then.
        return itemgetter(*map(attributes.index, names)) if set(names) <= set(attributes) else None

    def _getter(self, driver: str) -> tuple[Callable[[Any], Any], list[str]]:
        """Return for a driver what reads the attributes, its own by their short names."""
        names = self._names(driver)
        unusual = [f"{domain}/{name}" for _, domain, name in self._attributes if domain == driver]
        getter: Callable[[Any], Any] = itemgetter(*names) if names else _nothing
        return self._getters.setdefault(driver, (getter, unusual))

    def _names(self, driver: str) -> list[str]:
        """Return what the driver calls the attributes: its own by their short names."""
        return [name if domain == driver else f"{domain}/{name}" for _, domain, name in self._attributes]


def _nothing(seen: object) -> None:
    """Return nothing, as seen by questions that read no attribute."""


def _whole(row: SliceRow) -> Hashable:
    return object()


def _all_amounts(row: SliceRow) -> Hashable:
    if not row.plain:
        return AMOUNTS  # the frame has them
    return AMOUNTS, tuple([amounts(device.capacity) for device in row.wire.spec.devices])


def _reader(read: Read) -> Callable[[SliceRow], Hashable]:
    """Return what makes the column of a read."""
    kind, domain, name = read
    if kind in ("driver", "multi"):
        return lambda row: None  # always in the signature
    qualified = f"{domain}/{name}"
    of_attributes = kind.startswith("attribute")
    members = _ATTRIBUTES if of_attributes else _CAPACITY
    in_full, bare = itemgetter(qualified), itemgetter(name)

    def found(row: SliceRow) -> tuple[Any, ...]:
        # No call in Python for a device that has what is looked for.
        maps = tuple(map(members, row.wire.spec.devices))
        own = domain == row.driver
        try:
            if own and not any(map(contains, maps, repeat(qualified))):
                return tuple(map(bare, maps))
            return tuple(map(in_full, maps))
        except KeyError:
            # The driver's own domain may be left out; where both are there, the full name counts.
            return tuple([each.get(qualified, each.get(name) if own else None) for each in maps])

    if kind.endswith("domain"):
        return lambda row: (
            kind,
            tuple([_knows(members(each), domain, row.driver) for each in row.wire.spec.devices]),
        )
    if of_attributes:
        return lambda row: (kind, found(row))
    return lambda row: (kind, tuple([None if each is None else exact(each.value) for each in found(row)]))


_ENCODE: Final = msgspec.msgpack.Encoder().encode
_ATTRIBUTES: Final = attrgetter("attributes")
_CAPACITY: Final = attrgetter("capacity")


def _knows(names: Mapping[str, DeviceAttribute | DeviceCapacity], domain: str, driver: str) -> bool:
    start = f"{domain}/"
    return any(name.startswith(start) or (domain == driver and "/" not in name) for name in names)
