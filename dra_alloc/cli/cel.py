"""
The command `cel`.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from dra_alloc.api import ResourceSlice
from dra_alloc.cel import CompileError
from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.errors import InputError
from dra_alloc.manifest import load
from dra_alloc.report.cel_report import CEL_FORMATS
from dra_alloc.scenario.selecting import select
from dra_alloc.scenario.settings import Settings

__all__ = ["run_cel"]


def run_cel(options: Namespace) -> int:
    """
    Print what a selector says of devices; 0 if one matches and none fails.

    Raises: InputError, before anything is printed.
    """
    settings = Settings(options.release, dict(options.gate), options.channel, options.semantics)
    settings.profile()
    slices: Sequence[ResourceSlice] = ()
    if options.cluster:
        slices = load(options.cluster, stdin=sys.stdin.buffer).slices
        if not slices:
            raise InputError("there are no ResourceSlices in the dump")
    try:
        selected = select(options.expression, slices, settings, options.mode)
    except CompileError as error:
        hints = "".join(f"\nhint: {hint}" for hint in error.hints)
        raise InputError(error.text + hints) from None
    sys.stdout.write(CEL_FORMATS[options.format](selected, options.verbose))
    sys.stdout.flush()
    good = not slices or (selected.matching and not selected.failing)
    return ExitCode.OK if good else ExitCode.UNSATISFIABLE
