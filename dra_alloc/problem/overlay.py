"""
Maps that share what did not change.
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, Sequence, ValuesView
from itertools import repeat
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

#: A map with more changes than this over its base becomes a base of its own.
_MOST_CHANGES: Final = 256
_GONE: Final[Any] = object()
#: Findings of nodes that may all be gone by now, after which all is found out again.
_MOST_FINDINGS: Final = 1 << 16


class Overlay(Mapping[K, V], Generic[K, V]):
    """
    An immutable map; a changed copy costs as much as the changes since the last full one, at most 256.

    Replaced keys keep their place, new ones come last.
    """

    __slots__ = ("_base", "_changes", "_length")

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        self._base: dict[K, V] = dict(items)
        self._changes: dict[K, V] = {}
        self._length = len(self._base)

    def changed(self, items: Mapping[K, V], gone: Iterable[K] = ()) -> Overlay[K, V]:
        """Return the map with these items, and without the keys that are gone."""
        changes = dict(self._changes)
        length = self._length
        for key in gone:
            if changes.get(key, self._base.get(key, _GONE)) is not _GONE:
                length -= 1
                changes[key] = _GONE
        for key, value in items.items():
            length += changes.get(key, self._base.get(key, _GONE)) is _GONE
            changes[key] = value
        made = Overlay[K, V]()
        made._base, made._changes, made._length = self._base, changes, length
        if len(changes) > _MOST_CHANGES:
            made._base, made._changes = _merged(self._base, changes), {}
        return made

    def __getitem__(self, key: K) -> V:
        found = self._changes.get(key) if self._changes else None
        if found is None:
            return self._base[key]
        if found is _GONE:
            raise KeyError(key)
        return found

    def get(self, key: K, default: Any = None) -> Any:
        """Return the value of a key, or the default."""
        if self._changes:
            found = self._changes.get(key)
            if found is not None:
                return default if found is _GONE else found
        return self._base.get(key, default)

    def many(self, keys: Sequence[K], default: V) -> list[V]:
        """Return the values of keys, or the default."""
        if self._changes and not self._changes.keys().isdisjoint(keys):
            return [self.get(key, default) for key in keys]
        return list(map(self._base.get, keys, repeat(default)))

    def differing(self, other: Overlay[K, V]) -> set[K]:
        """Return the keys that do not have the very same value in both; quick if one was changed into the other."""
        same = self._base is other._base
        keys = {*self._changes, *other._changes} if same else {*self, *other}
        return {key for key in keys if self.get(key) is not other.get(key)}

    def items(self) -> ItemsView[K, V]:
        """Return keys and values, all at once: one by one they are looked up in Python."""
        return (_merged(self._base, self._changes) if self._changes else self._base).items()

    def values(self) -> ValuesView[V]:
        """Return the values, all at once as well."""
        return (_merged(self._base, self._changes) if self._changes else self._base).values()

    def __contains__(self, key: object) -> bool:
        if self._changes:
            found: Any = self._changes.get(key)  # type: ignore[arg-type]  # any key may be asked for
            if found is not None:
                return found is not _GONE
        return key in self._base

    def __iter__(self) -> Iterator[K]:
        changes = self._changes
        if not changes:
            yield from self._base
            return
        for key in self._base:
            if changes.get(key) is not _GONE:
                yield key
        for key, value in changes.items():
            if value is not _GONE and key not in self._base:
                yield key

    def __len__(self) -> int:
        return self._length

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __repr__(self) -> str:
        return f"Overlay({dict(self)!r})"


class LateOverlay(Overlay[K, V]):
    """A map that is put together when it is first looked at; safe to use from several threads."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], dict[K, V]]) -> None:
        self._make = make
        self._changes = {}

    def __getattr__(self, name: str) -> Any:
        """Return what an overlay has from the start, and this one from now on."""
        if name not in ("_base", "_length"):
            raise AttributeError(name)
        base = self._make()
        self._length = len(base)
        self._base = base
        return base if name == "_base" else len(base)


def _merged(base: dict[K, V], changes: dict[K, V]) -> dict[K, V]:
    merged = {**base, **changes}
    for key, value in changes.items():
        if value is _GONE:
            del merged[key]
    return merged


class Findings(Generic[K, V]):
    """
    What was found out so far by key; a copy that forgets some keys shares all others, found before or later.

    Safe to use from several threads.
    """

    __slots__ = ("_common", "_own")

    def __init__(self) -> None:
        self._common: dict[K, V] = {}
        # What copies do not share, because it was forgotten on the way here.
        self._own: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """Return what was found for a key."""
        own = self._own
        found = (own if key in own else self._common).get(key)
        return None if found is _GONE else found

    def put(self, key: K, value: V) -> V:
        """Note what was found for a key."""
        own = self._own
        if key not in own and len(self._common) >= _MOST_FINDINGS:
            self._common.clear()
        (own if key in own else self._common)[key] = value
        return value

    def without(self, keys: Iterable[K]) -> Findings[K, V]:
        """Return a copy that knows nothing of some keys."""
        made = Findings[K, V]()
        made._common = self._common  # its own class
        made._own = dict(self._own)
        made._own.update(dict.fromkeys(keys, _GONE))
        if len(made._own) > _MOST_CHANGES:
            made._common, made._own = _merged(self._common, made._own), {}
        return made
