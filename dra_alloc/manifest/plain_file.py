"""
A file of our own, no object of the API: its documents as plain values.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from dra_alloc.errors import ManifestError, Problem, Where
from dra_alloc.manifest.budget import DEFAULT_BUDGET, ReadBudget
from dra_alloc.manifest.make.hints import hint_for_text
from dra_alloc.manifest.read.inputs import SkippedInput, UnreadableInput, sources
from dra_alloc.manifest.read.json_reader import looks_like_json, plain_from_json, read_json, repeated_keys
from dra_alloc.manifest.read.paths import render
from dra_alloc.manifest.read.raw import Duplicate, Noticed, TextError
from dra_alloc.manifest.read.yaml_reader import read_yaml

__all__ = ["load_plain"]


def load_plain(path: str | os.PathLike[str], *, limits: ReadBudget = DEFAULT_BUDGET) -> tuple[Any, ...]:
    """
    Return every document of a YAML or JSON file as plain values; empty ones are left out.

    Raises: ManifestError.
    """
    found: list[Any] = []
    for source in sources([os.fspath(path)], None, limits):
        if isinstance(source, UnreadableInput):
            raise ManifestError([source.problem])
        if isinstance(source, SkippedInput):
            continue
        findings = Noticed()
        try:
            found += (each for each in _values(source.data, limits, findings) if each is not None)
        except TextError as error:
            raise ManifestError(
                [Problem(error.message, Where(file=source.name, line=error.line), _hint(error, source.data))]
            ) from None
        if findings.faults:
            raise ManifestError(
                Problem(each.message, Where(file=source.name, line=each.line), each.hint) for each in findings.faults
            )
        if findings.duplicates:
            # Which of the two was meant cannot be known.
            raise ManifestError(
                Problem(f'duplicate field "{render(each.place[1:])}"', Where(file=source.name, line=each.line))
                for each in findings.duplicates
            )
    return tuple(found)


def _hint(error: TextError, data: bytes) -> str:
    return error.hint or hint_for_text(data, error.line, error.message)


def _values(data: bytes, limits: ReadBudget, findings: Noticed) -> Iterator[Any]:
    if looks_like_json(data):
        for raw in read_json(data):
            text = raw.text or memoryview(b"null")
            value = plain_from_json(text)
            findings.duplicates += (
                Duplicate((*raw.place, *path), raw.line + line - 1) for path, line in repeated_keys(text, value)
            )
            yield value
    else:
        yield from (raw.value for raw in read_yaml(data, limits, findings))
