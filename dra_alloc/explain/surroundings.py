"""
What is known of a cluster's slices, for the worlds of its nodes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from dra_alloc.api import DeviceClass
from dra_alloc.problem.inventory import Inventory
from dra_alloc.profiles import Profile
from dra_alloc.solve.allocator import not_found
from dra_alloc.solve.columns import Columns
from dra_alloc.solve.survey import Survey

#: Distinct questions after which a cluster's surroundings are full.
_MOST_QUESTIONS: Final = 1_000


class Surroundings:
    """
    A cluster's slices with what is known of them, for the worlds of its nodes that leave them as they are.

    It is for one inventory, and for some refusals only: variations leave as much behind as questions do.
    """

    def __init__(self, inventory: Inventory, columns: Columns) -> None:
        self.inventory = inventory
        self._columns = columns
        self._classes: dict[str, DeviceClass] = {}
        self._known: dict[object, Survey] = {}
        # The classes are kept, so that no others get their ids.
        self._texts: dict[int, tuple[DeviceClass, str]] = {}

    @property
    def is_full(self) -> bool:
        """Return whether so much is known that it is time to begin anew."""
        return sum(each.counts()["questions"] for each in self._known.values()) > _MOST_QUESTIONS

    def survey(self, classes: Mapping[str, DeviceClass], profile: Profile) -> Survey:
        """Return what is known to a scheduler, if classes are what they are said to be."""
        given = self._classes
        named = tuple([(name, id(given.setdefault(name, each))) for name, each in classes.items()])
        changed = [(name, self._text(each)) for name, each in classes.items() if each is not given[name]]
        key = named, tuple(changed), profile
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._first(profile).with_classes(classes)
        return found

    def _first(self, profile: Profile) -> Survey:
        """Return what is known to a scheduler, whatever classes are."""
        found = self._known.get(profile)
        if found is None:
            found = self._known[profile] = Survey(self.inventory, self._classes, profile, not_found, self._columns)
        return found

    def _text(self, each: DeviceClass) -> str:
        return (self._texts.get(id(each)) or self._texts.setdefault(id(each), (each, json.dumps(each.to_wire()))))[1]
