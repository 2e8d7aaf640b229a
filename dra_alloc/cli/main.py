"""
Options to exit code: stdout is the result, stderr the diagnostics.
"""

from __future__ import annotations

import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.cli.options import parser
from dra_alloc.cli.output import write_to_nowhere
from dra_alloc.errors import DraAllocError, InputError, InternalError, ManifestError

__all__ = ["run"]

_MOST_PROBLEMS: Final = 50


def run(arguments: Sequence[str]) -> int:
    """Run the command with these arguments and return its exit code; nothing escapes but the interpreter's exit."""
    if sys.stderr is None:
        # Started with a closed stream: the exit code still speaks.
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            sys.stderr = nowhere
            return run(arguments)
    if sys.stdout is None:
        print("dra-alloc: standard output is closed, the answer has nowhere to go", file=sys.stderr)
        return ExitCode.BAD_INPUT
    if not arguments:
        parser().print_help(sys.stderr)
        return ExitCode.BAD_INPUT
    try:
        options = parser().parse_args(arguments)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else ExitCode.BAD_INPUT
    try:
        return _answered(options)
    except BrokenPipeError:
        # The reader of a stream without an answer went away: not our failure, and nothing more can be said.
        write_to_nowhere()
        return ExitCode.OK
    except OSError as error:
        print(f"dra-alloc: {error.filename or 'the answer could not be written'}: {error.strerror}", file=sys.stderr)
        write_to_nowhere()
        return ExitCode.BAD_INPUT
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED
    except InputError as error:
        _complain(error)
        return ExitCode.BAD_INPUT
    except InternalError as error:
        print(f"dra-alloc: internal error: {error}\nPlease report it with the input.", file=sys.stderr)
        return ExitCode.INTERNAL
    except DraAllocError as error:
        _complain(error)
        return ExitCode.BAD_INPUT
    except Exception:  # noqa: BLE001 - the last line of defence: a traceback would exit 1, which reads "unsatisfied"
        traceback.print_exc()
        print("dra-alloc: this is a bug of dra-alloc; please report it with the input.", file=sys.stderr)
        return ExitCode.INTERNAL


def _answered(options: Namespace) -> int:
    command = _COMMANDS[options.command]
    if not sys.stderr.isatty():
        return command(options)
    from dra_alloc.cli.loading_bar import loading_bar  # noqa: PLC0415 - loaded when needed, as the commands are

    with loading_bar(sys.stderr):
        return command(options)


def _complain(error: DraAllocError) -> None:
    from dra_alloc.report.layout import printable, wrapped_if_long  # noqa: PLC0415 - loaded when needed, as the commands are

    if not isinstance(error, ManifestError):
        print("\n".join(map(wrapped_if_long, f"dra-alloc: {printable(str(error))}".split("\n"))), file=sys.stderr)
        return
    for problem in error.problems[:_MOST_PROBLEMS]:
        print(printable(str(problem)), file=sys.stderr)
    count = error.count
    left = count - sum(problem.count for problem in error.problems[:_MOST_PROBLEMS])
    if left > 0:
        print(f"... and {left:,} more", file=sys.stderr)
    print(f"dra-alloc: {count:,} problem{'s' if count != 1 else ''} in the input, nothing was checked", file=sys.stderr)


def _check(options: Namespace) -> int:
    from dra_alloc.cli.check import run_check  # noqa: PLC0415 - loaded when needed: --help and --version stay fast

    return run_check(options)


def _gang(options: Namespace) -> int:
    from dra_alloc.cli.gang import run_gang  # noqa: PLC0415 - as above

    return run_gang(options)


def _cel(options: Namespace) -> int:
    from dra_alloc.cli.cel import run_cel  # noqa: PLC0415 - as above

    return run_cel(options)


def _conformance(options: Namespace) -> int:
    from dra_alloc.cli.conformance import run_conformance  # noqa: PLC0415 - as above

    return run_conformance(options)


def _snapshot(options: Namespace) -> int:
    from dra_alloc.cli.snapshot import run_snapshot  # noqa: PLC0415 - as above

    return run_snapshot(options)


def _harness(options: Namespace) -> int:
    from dra_alloc.cli.harness.serve import serve  # noqa: PLC0415 - as above

    for line in serve(sys.stdin.buffer):
        print(line, flush=True)
    return ExitCode.OK


_COMMANDS: Final[Mapping[str, Callable[[Namespace], int]]] = {
    "check": _check,
    "explain": _check,
    "gang": _gang,
    "cel": _cel,
    "conformance": _conformance,
    "snapshot": _snapshot,
    "harness": _harness,
}
