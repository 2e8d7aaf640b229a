"""
The simple conformance tests of cel-spec, read from the Go module `cel.dev/expr` when they are needed.

Nothing of cel-spec is kept here: the Go tool fetches the pinned module, and `fuzz/upstream/celspec/` prints its tests
as JSON.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from fuzz.oracle_build import OracleUnavailable, go_environment, go_missing

_SOURCE = Path(__file__).resolve().parents[1] / "upstream" / "celspec"
_MODULE = "cel.dev/expr"
_SECONDS = 600


def load() -> list[dict[str, Any]]:
    """
    The test files, each with its sections and tests, in protobuf's JSON mapping.

    Raises: OracleUnavailable where there is no Go, or the module cannot be had.
    """
    reason = go_missing()
    if reason is not None:
        raise OracleUnavailable(reason)
    _go("mod", "download")
    folder = _go("list", "-m", "-f", "{{.Dir}}", _MODULE).strip()
    return [json.loads(line) for line in _go("run", ".", folder).splitlines()]


def _go(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["go", *arguments],
            cwd=_SOURCE,
            env=go_environment(),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise OracleUnavailable(f"needs the Go module {_MODULE}: the Go tool took too long") from error
    if done.returncode:
        raise OracleUnavailable(f"needs the Go module {_MODULE}: {done.stderr.strip()[-1000:]}")
    return done.stdout
