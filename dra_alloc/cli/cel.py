"""
The command `cel`.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Final

from dra_alloc.api import ResourceSlice
from dra_alloc.cel import ENGINES, CompileError
from dra_alloc.cel.engines import unknown_engine
from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.cli.output import show
from dra_alloc.cli.reading import check_stdin_once, note_release, warn
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError
from dra_alloc.manifest import load
from dra_alloc.manifest.device_files import load_devices
from dra_alloc.report.cel_report import CEL_FORMATS, in_excerpts
from dra_alloc.scenario.selecting import Comparison, Refused, Selected, compare, select

__all__ = ["run_cel"]

_BOTH: Final = "both"


def run_cel(options: Namespace) -> int:
    """
    Print what a selector says of devices; 0 if one matches and none fails, and engines that are compared agree.

    Raises: InputError and EngineUnavailable, before anything is printed.
    """
    if options.engine not in (*ENGINES, _BOTH):
        raise unknown_engine(options.engine, (*ENGINES, _BOTH))
    engines = tuple(ENGINES) if options.engine == _BOTH else (options.engine,)
    gates = dict(options.gate)
    all_settings = [Settings(options.release, gates, options.channel, options.semantics, engine) for engine in engines]
    for settings in all_settings:
        settings.profile()
    note_release(all_settings[0])
    slices = _slices(options)
    answer: Selected | Comparison
    if options.engine == _BOTH:
        answer = compare(options.expression, slices, all_settings, options.mode)
    else:
        try:
            answer = select(options.expression, slices, all_settings[0], options.mode)
        except CompileError as error:
            hints = "".join(f"\nhint: {hint}" for hint in error.hints)
            text = error.text if options.format == "json" else in_excerpts(error.text)
            raise InputError(text + hints) from None
    show(CEL_FORMATS[options.format](answer, options.verbose))
    return _exit_code(answer)


def _slices(options: Namespace) -> Sequence[ResourceSlice]:
    """Return everything that was named, with warnings of what no API server takes; raises InputError for nothing."""
    check_stdin_once([*options.device, *options.cluster])
    found: list[ResourceSlice] = []
    if options.device:
        files = load_devices(options.device, driver=options.driver)
        warn(*files.refused)
        found += files.slices
    if options.cluster:
        slices = load(options.cluster).slices
        if not slices:
            raise InputError("there are no ResourceSlices in the dump")
        found += slices
    return found


def _exit_code(answer: Selected | Comparison) -> ExitCode:
    if isinstance(answer, Comparison):
        first = answer.answers[0]
        if isinstance(first, Refused):
            return ExitCode.BAD_INPUT
        return ExitCode.OK if answer.agreeing else ExitCode.UNSATISFIABLE
    good = not answer.devices or (answer.matching and not answer.failing)
    return ExitCode.OK if good else ExitCode.UNSATISFIABLE
