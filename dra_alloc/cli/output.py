"""
What the command prints: the answer on standard output, all else on standard error, neither able to steer its reader.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from dra_alloc.report import rendered

if TYPE_CHECKING:
    from dra_alloc.errors import DraAllocError, Problem
    from dra_alloc.report.records import Report

_MOST_WARNINGS: Final = 50
_given_up = False
#: Options of all commands that name what is read.
INPUTS: Final = (
    "manifests",
    "cluster",
    "baseline",
    "paths",
    "old",
    "base",
    "scenario",
    "sweep",
    "device",
    "prices",
    "shapes",
    "previous",
    "baseline",
    "settings_file",
)


def given_paths(options: Namespace, but: str = "") -> list[str]:
    """Return the paths that options name to read, files and folders, those of one of these left out."""
    given = [getattr(options, each, None) or () for each in INPUTS if each != but]
    return [path for paths in given for path in ([paths] if isinstance(paths, str) else paths)]


def input_files(options: Namespace, but: str = "") -> list[str]:
    """Return the files that are read for options, those of one of these left out."""
    from dra_alloc.manifest.read.inputs import files_of

    return files_of(given_paths(options, but))


def keep_inputs(options: Namespace, files: Iterable[str]) -> None:
    """
    See to it that neither reports nor rows take the place of files that other files name; note these as read.

    Raises: InputError for one that would; then no report is written, nor with what is wrong.
    """
    from dra_alloc.cli.writing import is_one_file
    from dra_alloc.errors import InputError
    from dra_alloc.manifest.read.inputs import files_of

    named = list(dict.fromkeys(files))
    options.beside = [*getattr(options, "beside", ()), *named]
    inputs = files_of(named)
    rows = getattr(options, "rows", None)
    for target in [*(each for _, each in options.report), *([rows] if rows else [])]:
        if any(is_one_file(target, each) for each in inputs):
            options.report = ()
            raise InputError(f"{target} is one of the files to read", hint="give what is written a name of its own")


def file_beside_answer(options: Namespace, option: str) -> str:
    """
    Return the file that an option names to write, beside the answer and its reports.

    Raises: InputError for one that cannot be written, or is one of these.
    """
    from dra_alloc.cli.writing import STDOUT, checked, is_one_file
    from dra_alloc.errors import InputError

    target = checked(getattr(options, option))
    if target == STDOUT:
        raise InputError(f"--{option} writes to a file: standard output has the answer of --format")
    if any(is_one_file(target, each) for _, each in options.report):
        options.report = ()
        raise InputError(f"--{option} and --report both name {target}")
    return target


def check_reports(options: Namespace) -> None:
    """
    See to it, before anything is done, that the reports can be written.

    Raises: InputError for one that cannot be, or two in one file; then none is written.
    """
    reports = getattr(options, "report", ())
    if "html" in (getattr(options, "format", ""), *(form for form, _ in reports)):
        from dra_alloc.report.page import require

        require()
    if not reports:
        return
    from dra_alloc.cli.writing import STDOUT, checked, is_one_file
    from dra_alloc.errors import InputError

    options.report = ()
    targets = [checked(target) for _, target in reports]
    if STDOUT in targets:
        raise InputError("--report writes to files: standard output has the answer of --format")
    inputs = input_files(options)
    for number, target in enumerate(targets):
        if any(is_one_file(target, each) for each in targets[:number]):
            raise InputError(f"--report names {target} twice")
        if any(is_one_file(target, each) for each in inputs):
            raise InputError(f"{target} is one of the files to read", hint="give the report a name of its own")
    options.report = reports


def show(options: Namespace, report: Report) -> None:
    """
    Write a report to the files that the options name, then print it, in formats of those that the command has.

    Raises: InputError for a file that cannot be written.
    """
    _file(options, report)
    write(rendered(report, options.formats[options.format], options.verbose))


def show_problems(options: Namespace, error: DraAllocError) -> None:
    """
    Tell bad input in the formats that are asked for; as text it is told on standard error alone.

    Raises: InputError for a file that cannot be written.
    """
    if not hasattr(options, "formats"):
        return
    from dra_alloc.report.formats.annotations import problem_report

    tells = _file if options.format == "text" else show
    tells(options, problem_report(error))


def _file(options: Namespace, report: Report) -> None:
    if options.report:
        from dra_alloc.cli.writing import write_file

        # Once: of a file that cannot be written there is one complaint.
        reports, options.report = options.report, ()
        for form, target in reports:
            text = rendered(report, options.formats[form], options.verbose)
            write_file(target, text.encode("utf-8", "backslashreplace"))


def write(answer: str) -> None:
    """
    Print an answer; one that stops reading, such as ``head``, has read enough.

    The exit code still says what the answer is. Raises: OSError, for a full disk.
    """
    try:
        sys.stdout.write(answer)
        sys.stdout.flush()
    except BrokenPipeError:
        write_to_nowhere()


def nobody_reads() -> bool:
    """Return whether standard output was given up."""
    return _given_up


def write_to_nowhere() -> None:
    """Give up standard output, so that the interpreter does not fail on it once more when it leaves."""
    global _given_up  # noqa: PLW0603 - a process has one standard output
    _given_up = True
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def tell(text: str) -> None:
    """Print lines on standard error."""
    from dra_alloc.report.layout import inert, printable

    print(inert(printable(text)), file=sys.stderr)


def tell_written(target: str, done: str) -> None:
    """Say that a file was written: on standard output, or beside it if that is the file."""
    from dra_alloc.cli.writing import STDOUT
    from dra_alloc.report.layout import inert, printable

    if target == STDOUT:
        tell(done)
    else:
        write(f"{inert(printable(done))}\n")


def warn(*warnings: Problem) -> None:
    """Print warnings, never without end."""
    for warning in warnings[:_MOST_WARNINGS]:
        tell(f"warning: {warning}")
    left = len(warnings) - _MOST_WARNINGS
    if left > 0:
        tell(f"warning: and {left:,} more of these")
