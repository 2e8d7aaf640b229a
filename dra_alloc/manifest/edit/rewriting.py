"""
Texts of which some objects are to say something else: edited by positions, and read again as a proof.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from yaml import YAMLError

from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.edit.block import step_of
from dra_alloc.manifest.edit.changes import change
from dra_alloc.manifest.edit.nodes import comments_in, json_nodes, node_at, yaml_nodes
from dra_alloc.manifest.edit.places import CannotEdit, Draft
from dra_alloc.manifest.read.json_reader import plain_from_json, read_json
from dra_alloc.manifest.read.members import unlisted
from dra_alloc.manifest.read.paths import Path
from dra_alloc.manifest.read.raw import Noticed, RawDocument, TextError
from dra_alloc.manifest.read.yaml_reader import read_yaml


def objects_in(data: bytes, is_json: bool, noticed: Noticed) -> Iterator[tuple[RawDocument, Any]]:
    """Yield the objects of a text with their values, those of lists one by one. Raises: TextError."""
    for raw in read_json(data) if is_json else read_yaml(data, DEFAULT_BUDGET, noticed):
        for each in unlisted(raw, 0):
            yield each, each.value if each.text is None else plain_from_json(each.text)


def rewritten(data: bytes, is_json: bool, new: Mapping[Path, Any]) -> bytes:
    """
    Return a text in which the objects at some places say something else, and nothing else of it changes.

    All comments stay. Raises: CannotEdit, where that cannot be written, or is not what is read then.
    """
    try:
        text = data.decode()
        said = {raw.place: value for raw, value in objects_in(data, is_json, Noticed())}
        documents = json_nodes(text) if is_json else yaml_nodes(text)
        draft, done = Draft(text, quoted=is_json), set[int]()
        for place, value in new.items():
            node = node_at(documents, place)
            if node is None:
                raise CannotEdit("it is merged in from elsewhere")
            draft.step = step_of([node], draft) or draft.step
            change(draft, node, said[place], value, done)
        after = draft.written()
        noticed = Noticed()
        read = {raw.place: value for raw, value in objects_in(after.encode(), is_json, noticed)}
        kept = is_json or comments_in(after, yaml_nodes(after)) == comments_in(text, documents)
    except (TextError, YAMLError, UnicodeError) as error:
        raise CannotEdit(f"it cannot be read: {error}") from None
    if noticed.faults or read != {**said, **new} or not kept:
        raise CannotEdit("something else of its text would change")
    return after.encode()
