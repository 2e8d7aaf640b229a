"""
Options to exit code: stdout is the result, stderr the diagnostics.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from dra_alloc.cli.commands import parser
from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.cli.interrupts import heard
from dra_alloc.cli.output import check_reports, show_problems, tell, write_to_nowhere
from dra_alloc.work import BudgetExhausted, Purse

if TYPE_CHECKING:
    from dra_alloc.errors import DraAllocError

_MOST_PROBLEMS: Final = 50


def run(arguments: Sequence[str]) -> int:
    """Run the command with these arguments and return its exit code; nothing escapes but the interpreter's exit."""
    if sys.stderr is None:
        # Started with a closed stream: the exit code still speaks.
        with os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8") as nowhere:
            sys.stderr = nowhere
            return run(arguments)
    if sys.stdout is None:
        print("dra-alloc: standard output is closed, the answer has nowhere to go", file=sys.stderr)
        return ExitCode.BAD_INPUT
    options = _parsed(arguments)
    if isinstance(options, int):
        return options
    if getattr(options, "watch", False):
        from dra_alloc.cli.watching import watched

        return _caught(options, lambda: watched(options, lambda: _parsed(arguments), _told))
    return _told(options)


def _parsed(arguments: Sequence[str]) -> Namespace | int:
    """Return the options, or the exit code where there is nothing to run; usage was said then."""
    try:
        asked = parser(arguments)
        if not arguments:
            asked.print_help(sys.stderr)
            return ExitCode.BAD_INPUT
        return asked.parse_args(arguments)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else ExitCode.BAD_INPUT


def _told(options: Namespace) -> int:
    """Return the exit code of an answer that was told."""
    return _caught(options, lambda: _answered(options))


def _caught(options: Namespace, answered: Callable[[], int]) -> int:
    """Return the exit code of what is answered, whatever it raises."""
    try:
        return answered()
    except BrokenPipeError:
        # The reader of a stream without an answer went away: not our failure, and nothing more can be said.
        write_to_nowhere()
        return ExitCode.OK
    except OSError as error:
        tell(f"dra-alloc: {error.filename or 'the answer could not be written'}: {error.strerror}")
        write_to_nowhere()
        return ExitCode.BAD_INPUT
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the last line of defence: a traceback would exit 1, which reads "unsatisfied"
        return _failed(error, options)


def _answered(options: Namespace) -> int:
    code: int
    if (problem := getattr(options, "settings_problem", None)) is not None:
        raise problem
    check_reports(options)
    if (file := getattr(options, "settings_file", "")) != "":
        tell(f"note: options of {file}")
    with ExitStack() as around:
        if "budget" in options:
            around.enter_context(Purse(options.budget))
        if sys.stderr.isatty():
            from dra_alloc.cli.loading_bar import loading_bar

            around.enter_context(loading_bar(sys.stderr))
        try:
            if getattr(options, "max_age", None) is not None:
                from dra_alloc.cli.ages import check_ages

                check_ages(options, options.cluster)
            code = options.run(options)
        except BudgetExhausted as error:
            tell(f"dra-alloc: {error}: there is no answer")
            return ExitCode.UNDECIDED
        return code


def _failed(error: Exception, options: Namespace) -> int:
    """Say what went wrong, and return the exit code for it."""
    from dra_alloc.cli.settings_file import with_place
    from dra_alloc.errors import DraAllocError, InputError, InternalError

    if heard():
        return ExitCode.INTERRUPTED
    if isinstance(error, InternalError):
        tell(f"dra-alloc: internal error: {error}\nPlease report it with the input.")
        return ExitCode.INTERNAL
    if type(error) is InputError:
        error = with_place(error, options)
    if isinstance(error, DraAllocError):
        _complain(error)
        try:
            show_problems(options, error)
        except (DraAllocError, OSError) as failure:
            tell(f"dra-alloc: {failure}")
        return ExitCode.BAD_INPUT
    from traceback import format_exception

    tell("".join(format_exception(error)) + "dra-alloc: this is a bug of dra-alloc; please report it with the input.")
    return ExitCode.INTERNAL


def _complain(error: DraAllocError) -> None:
    from dra_alloc.errors import ManifestError
    from dra_alloc.report.formats.annotations import nothing_done
    from dra_alloc.report.layout import wrapped_if_long

    if not isinstance(error, ManifestError):
        tell("\n".join(map(wrapped_if_long, f"dra-alloc: {error}".split("\n"))))
        return
    for problem in error.problems[:_MOST_PROBLEMS]:
        tell(str(problem))
    count = error.count
    left = count - sum(problem.count for problem in error.problems[:_MOST_PROBLEMS])
    if left > 0:
        tell(f"... and {left:,} more")
    tell(f"dra-alloc: {nothing_done(count, error.undone)}")
