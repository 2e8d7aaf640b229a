"""
Objects that leave their name to the API server, named here as it would name them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from dra_alloc.api import ObjectMeta
from dra_alloc.manifest import Documents

__all__ = ["named"]


class _Object(Protocol):
    """A model with metadata."""

    @property
    def metadata(self) -> ObjectMeta: ...
    def model_copy(self, *, update: dict[str, object]) -> _Object: ...


_O = TypeVar("_O", bound=_Object)


def named(documents: Documents, dump: Documents) -> Documents:
    """
    Return the documents with a name for every claim, template and pod that has only generateName.

    The API server appends five random characters; here it is the first number
    that makes the name a new one, so that answers can be told apart and repeat.
    """
    places = dict(documents.places)

    def name_all(objects: Sequence[_O], others: Sequence[_Object]) -> tuple[_O, ...]:
        taken = {_key(each) for each in objects} | {_key(each) for each in others}
        made: list[_O] = []
        for item in objects:
            meta = item.metadata
            if meta.name or not meta.generate_name:
                made.append(item)
                continue
            number = 1
            while (meta.namespace, f"{meta.generate_name}{number}") in taken:
                number += 1
            taken.add((meta.namespace, f"{meta.generate_name}{number}"))
            renamed = meta.model_copy(update={"name": f"{meta.generate_name}{number}"})
            copy: _O = item.model_copy(update={"metadata": renamed})  # type: ignore[assignment]
            if id(item) in places:
                places[id(copy)] = places[id(item)]
            made.append(copy)
        return tuple(made)

    return replace(
        documents,
        claims=name_all(documents.claims, dump.claims),
        templates=name_all(documents.templates, dump.templates),
        pods=name_all(documents.pods, dump.pods),
        places=places,
    )


def _key(item: _Object) -> tuple[str | None, str | None]:
    return item.metadata.namespace, item.metadata.name
