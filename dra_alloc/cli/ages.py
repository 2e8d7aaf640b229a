"""
How old dumps are, and that none is older than may be.
"""

from __future__ import annotations

import re
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from dra_alloc.cli.output import tell
from dra_alloc.errors import InputError, ManifestError, Problem, Where
from dra_alloc.manifest.budget import DEFAULT_BUDGET
from dra_alloc.manifest.read.inputs import STDIN, InputBytes, sources

__all__ = ["check_ages", "told"]

#: What kubelets and whoever leads write every few minutes, in JSON or YAML: the conditions of Nodes, and Leases.
_HEARTBEAT: Final = re.compile(
    rb'(?:lastHeartbeatTime|renewTime)\\?["\']?\s*:\s*\\?["\']?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z'
)
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def check_ages(options: Namespace, paths: Sequence[str]) -> None:
    """
    See to it that no file of a dump is older than `--max-age`, and tell how old each is, and by what.

    Spec: DUMP-1.
    Raises: ManifestError with all that are; InputError for standard input without a heartbeat, whose age is not known.
    """
    if STDIN in paths:
        raise InputError("--max-age: how old standard input is cannot be told", hint="save the dump to a file")
    problems = list(_too_old(paths, options.max_age, time.time()))
    if problems:
        raise ManifestError(problems)


def _too_old(paths: Sequence[str], most: int, now: float) -> Iterator[Problem]:
    """Yield a problem for each file that is too old; tell the ages of the others."""
    for each in sources(paths, None, DEFAULT_BUDGET):
        if not isinstance(each, InputBytes):
            continue  # whoever reads it says why not
        written, by = _written(each)
        age = max(0, int(now - written.timestamp()))
        said = f"is {told(age)} old by {by}, {written:%Y-%m-%dT%H:%M:%SZ}"
        if age > most:
            hint = "dump the cluster anew"
            yield Problem(f"{said}: older than --max-age {told(most)}", Where(file=each.name), hint)
        else:
            tell(f"note: {each.name} {said}")


def _written(item: InputBytes) -> tuple[datetime, str]:
    """Return when a file was dumped, as far as is known, and by what."""
    newest = max(_HEARTBEAT.findall(item.data), default=None)
    if newest is not None:
        try:
            return datetime.fromisoformat(newest.decode()).replace(tzinfo=UTC), "its newest heartbeat"
        except ValueError:
            pass  # no time of any calendar
    return datetime.fromtimestamp(Path(item.name).stat().st_mtime, UTC), "the time of the file, as it has no heartbeat"


def told(seconds: int) -> str:
    """Return a time span as a person says it: its two largest units."""
    parts = []
    for unit, length in _UNITS:
        number, seconds = divmod(seconds, length)
        if number:
            parts.append(f"{number} {unit}")
    return " ".join(parts[:2]) or "0 s"
