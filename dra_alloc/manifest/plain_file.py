"""
Files of our own, no objects of the API: their documents as plain values.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dra_alloc.errors import ManifestError, Problem
from dra_alloc.manifest.budget import DEFAULT_BUDGET, YAML_INSTEAD, ReadBudget
from dra_alloc.manifest.make.complaints import Complaints
from dra_alloc.manifest.make.hints import hint_for_text
from dra_alloc.manifest.read.inputs import InputBytes, SkippedInput, UnreadableInput, sources
from dra_alloc.manifest.read.json_reader import looks_like_json, plain_from_json, read_json, repeated_keys
from dra_alloc.manifest.read.paths import render, tokens
from dra_alloc.manifest.read.positions import positions_in_json, positions_in_yaml
from dra_alloc.manifest.read.raw import Duplicate, Noticed, RawDocument, TextError
from dra_alloc.manifest.read.yaml_reader import read_yaml


def load_plain(path: str | os.PathLike[str], *, limits: ReadBudget = DEFAULT_BUDGET) -> tuple[Any, ...]:
    """
    Return every document of a YAML or JSON file as plain values; empty ones are left out.

    Raises: ManifestError.
    """
    return tuple([value for _, value in load_numbered(path, limits=limits)])


def load_numbered(path: str | os.PathLike[str], *, limits: ReadBudget = DEFAULT_BUDGET) -> tuple[tuple[int, Any], ...]:
    """
    Return what `load_plain` does, each document with its number in the file, in which empty ones count.

    Raises: ManifestError.
    """
    found: list[tuple[int, Any]] = []
    for source in sources([os.fspath(path)], None, limits):
        if isinstance(source, UnreadableInput):
            raise ManifestError([source.problem])
        if isinstance(source, SkippedInput):
            continue
        complaints = Complaints(source.name, limits.problems_per_file)
        raws = [each for each in plain_documents(source, limits, complaints) if each.value is not None]
        found += [(int(each.place[0]) if each.place else 0, each.value) for each in raws]
        if complaints.entries:
            raise ManifestError(complaints.resolved(source.data))
    return tuple(found)


def with_lines(problems: Sequence[Problem], file: str, documents: Sequence[int] = ()) -> tuple[Problem, ...]:
    """Return problems of a file with the lines of their paths, each in the document of its number, or the first."""
    places = list(zip(documents or [0] * len(problems), (each.where.path for each in problems), strict=True))
    mine = {place for place, each in zip(places, problems, strict=True) if each.where.file == file and each.where.path}
    lines = _lines(file, mine) if mine else {}
    return tuple(
        replace(each, where=replace(each.where, line=lines[place]))
        if each.where.file == file and place in lines
        else each
        for place, each in zip(places, problems, strict=True)
    )


def _lines(path: str, wanted: Collection[tuple[int, str]]) -> Mapping[tuple[int, str], int]:
    """Return the lines of paths in documents of a file, or of what there is of them; nothing where unknown."""
    for source in sources([path], None, DEFAULT_BUDGET):
        if isinstance(source, InputBytes):
            steps = {each: (str(each[0]), *tokens(each[1])) for each in wanted}
            finds = [positions_in_json] if looks_like_json(source.data) else []
            finds += [positions_in_yaml] if not finds or _may_be_either(source.data) else []
            found = next((it for find in finds if (it := find(source.data, frozenset(steps.values())))), {})
            return {each: found[place][0] for each, place in steps.items() if place in found}
    return {}


def plain_documents(source: InputBytes, limits: ReadBudget, complaints: Complaints) -> Iterator[RawDocument]:
    """
    Yield the documents of a file with their values, and complain about its text.

    What begins as JSON may be flow YAML: it is read as that if it is no JSON. That one of two keys was meant
    cannot be known, so both are no good.
    """
    if not _may_be_either(source.data):
        yield from _documents(source, limits, complaints, is_json=looks_like_json(source.data))
        return
    tried = []
    for is_json in (True, False):
        own = Complaints(source.name, complaints.limit)
        tried.append((list(_documents(source, limits, own, is_json=is_json)), own))
        if tried[-1][0]:
            break
    found, own = tried[-1] if tried[-1][0] else tried[0]
    yield from found
    complaints.entries += own.entries[: max(0, complaints.limit - len(complaints.entries))]
    complaints.dropped += own.dropped


def _may_be_either(data: bytes) -> bool:
    return looks_like_json(data) and len(data) <= YAML_INSTEAD


def _documents(
    source: InputBytes, limits: ReadBudget, complaints: Complaints, *, is_json: bool
) -> Iterator[RawDocument]:
    data, noticed = source.data, Noticed()
    try:
        for raw in read_json(data) if is_json else read_yaml(data, limits, noticed):
            if not is_json:
                yield raw
                continue
            text = raw.text or memoryview(b"null")
            value = plain_from_json(text)
            repeated = repeated_keys(text, value)
            noticed.duplicates += (Duplicate((*raw.place, *path), raw.line + line - 1) for path, line in repeated)
            yield replace(raw, value=value)
    except TextError as error:
        hint = error.hint or hint_for_text(data, error.line, error.message)
        complaints.add_line(error.message, error.line, hint)
    for fault in noticed.faults:
        complaints.add_line(fault.message, fault.line, fault.hint)
    for double in noticed.duplicates:
        complaints.add_line(f'duplicate field "{render(double.place[1:])}"', double.line)
