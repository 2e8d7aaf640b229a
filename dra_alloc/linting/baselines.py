"""
What is known already: findings by their fingerprints, in a file beside the manifests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from dra_alloc.errors import InputError, in_brief
from dra_alloc.linting.rules import LintFinding

_VERSION: Final = 1


def baseline_of(findings: Iterable[LintFinding]) -> str:
    """Return the text of a baseline that has these findings: by fingerprint, with what a reader wants to know."""
    known = {
        each.fingerprint: {
            "code": each.code,
            "file": each.where.file,
            "object": each.where.object,
            "path": each.where.path,
        }
        for each in findings
    }
    return json.dumps({"schemaVersion": _VERSION, "findings": dict(sorted(known.items()))}, indent=2) + "\n"


def read_baseline(file: str) -> frozenset[str]:
    """Return the fingerprints of a baseline. Raises: InputError."""
    try:
        told: Any = json.loads(Path(file).read_bytes())
    except OSError as error:
        hint = "write one with --write-baseline" if isinstance(error, FileNotFoundError) else ""
        raise InputError(f"baseline {in_brief(file)} cannot be read: {error.strerror}", hint=hint) from None
    except (ValueError, RecursionError):
        raise InputError(f"baseline {in_brief(file)} is no JSON") from None
    found = told.get("findings") if isinstance(told, Mapping) and told.get("schemaVersion") == _VERSION else None
    if not isinstance(found, Mapping):
        raise InputError(f"{in_brief(file)} is no baseline", hint="write one with --write-baseline")
    return frozenset(found)
