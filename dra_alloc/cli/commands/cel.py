"""
The command `cel`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from dra_alloc.cli import options as shared

if TYPE_CHECKING:
    from dra_alloc.api import ResourceSlice

_DESCRIPTION: Final = """\
Say which devices a CEL selector matches, and on which it fails and why;
without --device and --cluster only whether it compiles, and its cost."""
_EXIT_CODES: Final = """\
exit codes:
  0  it compiles, and a device matches and none fails
  1  no device matches or one fails
  2  it does not compile, or bad input
  3  the budget ran out before all devices were asked"""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description, command.epilog = _DESCRIPTION, _EXIT_CODES
    command.add_argument("expression", metavar="EXPR", help="the selector")
    command.add_argument(
        "--device",
        action="append",
        default=[],
        metavar="FILE",
        help="devices as in a ResourceSlice, one or a list, or ResourceSlices; YAML or JSON, - for standard input; "
        "may be repeated",
    )
    command.add_argument(
        "--driver", default="", metavar="NAME", help="driver of devices in FILE that do not say theirs"
    )
    shared.cluster(command, "files with ResourceSlices")
    command.add_argument(
        "--mode",
        choices=("stored", "new"),
        default="stored",
        help="kube-scheduler's environment, or the API server's for new objects (default: stored)",
    )
    shared.settings(command)
    shared.budget(command)
    shared.output(command)
    command.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    """Print what a selector says of devices; 0 if one matches and none fails. Raises: InputError."""
    from dra_alloc.cel import CompileError
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import show
    from dra_alloc.cli.reading import settings_of
    from dra_alloc.errors import InputError
    from dra_alloc.report.cel_report import cel_report, in_excerpts
    from dra_alloc.scenario.selecting import select

    settings = settings_of(options)
    try:
        answer = select(options.expression, _slices(options), settings, options.mode)
    except CompileError as error:
        hints = "".join(f"\nhint: {hint}" for hint in error.hints)
        text = error.text if options.format == "json" else in_excerpts(error.text)
        raise InputError(text + hints) from None
    show(options, cel_report(answer))
    if answer.undecided and not answer.failing:
        return ExitCode.UNDECIDED
    good = not answer.devices or (answer.matching and not answer.failing)
    return ExitCode.OK if good else ExitCode.UNSATISFIABLE


def _slices(options: Namespace) -> Sequence[ResourceSlice]:
    """Return everything that was named, with warnings of what no API server takes; raises InputError for nothing."""
    from dra_alloc.cli.nothing import check_stdin_once
    from dra_alloc.cli.output import warn
    from dra_alloc.errors import InputError
    from dra_alloc.manifest import load
    from dra_alloc.manifest.device_files import load_devices

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
