"""
How old dumps are, and that none is older than may be.
"""

from __future__ import annotations

import contextlib
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

#: What kubelets and whoever leads write every few minutes, in JSON or YAML: the conditions of Nodes, and Leases.
_HEARTBEAT: Final = re.compile(
    rb'(?:lastHeartbeatTime|renewTime)\\?["\']?\s*:\s*\\?["\']?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?Z'
)
#: A clock that is so many seconds ahead of ours may still be right; what is later was not written by one.
_AHEAD: Final = 300
_UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def check_ages(options: Namespace, paths: Sequence[str]) -> None:
    """
    See to it that no file of a dump is older than `--max-age`, and tell how old each is, and by what.

    Spec: DUMP-1.
    Raises: ManifestError with all that are; InputError for standard input, whose age is not known.
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
        written, by = _written(each, now)
        age = max(0, int(now - written.timestamp()))
        said = f"is {told(age)} old by {by}, {written:%Y-%m-%dT%H:%M:%SZ}"
        if age > most:
            hint = "dump the cluster anew"
            yield Problem(f"{said}: older than --max-age {told(most)}", Where(file=each.name), hint)
        else:
            tell(f"note: {each.name} {said}")


def _written(item: InputBytes, now: float) -> tuple[datetime, str]:
    """Return when a file was dumped, as far as is known, and by what."""
    for heartbeat in sorted(set(_HEARTBEAT.findall(item.data)), reverse=True):
        with contextlib.suppress(ValueError):  # no time of any calendar
            written = datetime.fromisoformat(heartbeat.decode()).replace(tzinfo=UTC)
            if written.timestamp() < now + _AHEAD:
                return written, "its newest heartbeat"
    return datetime.fromtimestamp(Path(item.name).stat().st_mtime, UTC), "the time of the file, as it has no heartbeat"


def told(seconds: int) -> str:
    """Return a time span as a person says it: its two largest units."""
    parts = []
    for unit, length in _UNITS:
        number, seconds = divmod(seconds, length)
        if number:
            parts.append(f"{number} {unit}")
    return " ".join(parts[:2]) or "0 s"
