"""
What there is in files, but could not be kept: so that nothing is called missing that may be among it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from dra_alloc.manifest.kinds import is_read
from dra_alloc.manifest.read.raw import Unread

#: Kinds that are looked up by name in a namespace.
_NAMESPACED: Final = ("ResourceClaim", "ResourceClaimTemplate")


@dataclass(frozen=True, slots=True)
class Lost:
    """
    Objects that could not be kept, as far as they can be told.

    `names` are kind, namespace (none where the object says none, or has none)
    and name; of `kinds` there are some whose names are not known. With
    `anything` there may have been anything: text that cannot be read.
    """

    names: frozenset[tuple[str, str, str]] = frozenset()
    kinds: frozenset[str] = frozenset()
    anything: bool = False

    def may_hold_any(self, kind: str) -> bool:
        """Say whether some object of a kind may be lost of which the name is not known."""
        return self.anything or kind in self.kinds

    def may_hold(self, kind: str, name: str, namespace: str = "") -> bool:
        """Say whether an object may be lost."""
        return self.may_hold_any(kind) or not self.names.isdisjoint([(kind, namespace, name), (kind, "", name)])

    def of(self, kind: str) -> frozenset[str]:
        """Return the names of lost objects of a kind, as far as they are known."""
        return frozenset(name for each, _, name in self.names if each == kind)

    def __or__(self, other: Lost) -> Lost:
        return Lost(self.names | other.names, self.kinds | other.kinds, self.anything or other.anything)


NOTHING_LOST: Final = Lost()


@dataclass(slots=True)
class Losses:
    """What is lost of one file, or of one load, under way."""

    names: set[tuple[str, str, str]] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    anything: bool = False

    def add(self, kind: str, value: Any) -> None:
        """Note an object by what it says of itself."""
        if not is_read(kind):  # a misspelt one may have been meant
            self.anything = True
            return
        metadata = value.get("metadata") if isinstance(value, dict) else None
        meta = metadata if isinstance(metadata, dict) else {}
        name, namespace = meta.get("name"), meta.get("namespace")
        if name.__class__ is not str or namespace.__class__ is Unread:
            self.kinds.add(kind)
            return
        given = namespace if isinstance(namespace, str) and kind in _NAMESPACED else ""
        self.names.add((kind, given, name))

    def take(self, others: Losses) -> None:
        """Take over what another noted."""
        self.names |= others.names
        self.kinds |= others.kinds
        self.anything |= others.anything

    def done(self) -> Lost:
        """Return what is lost."""
        return Lost(frozenset(self.names), frozenset(self.kinds), self.anything)
