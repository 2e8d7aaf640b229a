"""
The documents that a command is given, with everything that is wrong with them at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from dra_alloc.errors import InputError, ManifestError
from dra_alloc.manifest import Documents, Validate, load_readable
from dra_alloc.scenario.applying import problems_besides
from dra_alloc.scenario.settings import Settings

__all__ = ["read_inputs"]


def read_inputs(
    manifests: Sequence[str], dumps: Sequence[str], settings: Settings, namespace: str, validate: Validate = "strict"
) -> tuple[Documents, Documents]:
    """
    Return the manifests and the dump.

    Raises: ManifestError with every problem of both, and if there are any, also
    with those of the manifests that could be read; InputError for settings and
    for standard input named twice.
    """
    if [*manifests, *dumps].count("-") > 1:
        raise InputError("standard input can be read only once", hint="name - in one place")
    asked, problems = load_readable(manifests, validate=validate)
    dump, more = load_readable(dumps, validate=validate) if dumps else (Documents(), ())
    if problems or more:
        raise ManifestError([*problems, *more, *problems_besides(asked, settings, namespace)])
    return asked, dump
