"""
The documents that a command is given, with everything that is wrong with them at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from dra_alloc.errors import InputError, ManifestError, Problem
from dra_alloc.manifest import Documents, Validate, load_readable
from dra_alloc.manifest.inputs import STDIN
from dra_alloc.releases import note_on
from dra_alloc.report.layout import printable
from dra_alloc.scenario.applying import problems_besides
from dra_alloc.scenario.settings import Settings

__all__ = ["check_stdin_once", "note_release", "read_inputs", "warn"]


def check_stdin_once(paths: Sequence[str]) -> None:
    """Raise InputError if standard input is named twice."""
    if paths.count(STDIN) > 1:
        raise InputError("standard input can be read only once", hint="name - in one place")


def warn(*warnings: Problem) -> None:
    """Print warnings; control characters in them must not steer a terminal."""
    for warning in warnings:
        print(f"warning: {printable(str(warning))}", file=sys.stderr)


def note_release(settings: Settings) -> None:
    """Say if the release is answered as another; raises InputError for an unknown one."""
    note = note_on(settings.release)
    if note:
        print(f"note: {note}", file=sys.stderr)


def read_inputs(
    manifests: Sequence[str], dumps: Sequence[str], settings: Settings, namespace: str, validate: Validate = "strict"
) -> tuple[Documents, Documents]:
    """
    Return the manifests and the dump.

    Raises: ManifestError with every problem of both, and if there are any, also
    with those of the manifests that could be read; InputError for settings and
    for standard input named twice.
    """
    check_stdin_once([*manifests, *dumps])
    asked, problems = load_readable(manifests, validate=validate)
    dump, more = load_readable(dumps, validate=validate) if dumps else (Documents(), ())
    if problems or more:
        raise ManifestError([*problems, *more, *problems_besides(asked, settings, namespace)])
    return asked, dump
