"""
The command `convert`.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Final

from dra_alloc.cli import options as shared

if TYPE_CHECKING:
    from dra_alloc.scenario.converting import Conversion

_DESCRIPTION: Final = """\
Write objects of resource.k8s.io in another version: comments, order, quotes,
anchors and line ends stay, and so does every other document. What is written is
read again; a document of which more than its version would change is left alone
and named. What the other version cannot say is an error with its field. After
an error nothing is written.

Without --in-place, --diff and --check the converted files go to standard
output. PATHS are files, folders or - for standard input."""
_EXIT_CODES: Final = """\
exit codes:
  0  as expected; with --check: nothing would change
  1  with --check: something would change
  2  bad input, or a document that cannot be converted: nothing was written"""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description, command.epilog = _DESCRIPTION, _EXIT_CODES
    command.add_argument("paths", nargs="+", metavar="PATHS", help="what to convert")
    goal = command.add_mutually_exclusive_group(required=True)
    goal.add_argument("--to", metavar="VERSION", help="v1, v1beta2, v1beta1 or v1alpha3")
    goal.add_argument(
        "--target-release",
        metavar="R",
        help="what this Kubernetes release does not have any more, or not yet, becomes the best version that it has; "
        "all else stays",
    )
    way = command.add_mutually_exclusive_group()
    way.add_argument("--in-place", action="store_true", help="rewrite the files")
    way.add_argument("--diff", action="store_true", help="print what would change")
    way.add_argument("--check", action="store_true", help="list what would change")
    shared.output(command)
    command.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    """Convert files and return the exit code. Raises: InputError."""
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.nothing import check_stdin_once, nothing_given
    from dra_alloc.cli.output import show, warn, write
    from dra_alloc.errors import InputError
    from dra_alloc.manifest.convert.objects import goal_of
    from dra_alloc.manifest.read.inputs import STDIN
    from dra_alloc.scenario.converting import convert_files, goal_in

    if not options.check and (options.format != "text" or options.report):
        raise InputError("--format and --report tell what --check finds")
    check_stdin_once(options.paths)
    if options.in_place and STDIN in options.paths:
        hint = "without --in-place the converted text goes to standard output"
        raise InputError("--in-place rewrites files, and standard input is none", hint=hint)
    goal = goal_of(options.to) if options.to is not None else goal_in(options.target_release)
    found = convert_files(options.paths, goal)
    warn(*found.warnings)
    if found.empty:
        raise nothing_given()
    if options.check:
        from dra_alloc.report.convert_report import convert_report

        show(options, convert_report(found.texts, (options.target_release or "").removeprefix("v")))
        return ExitCode.UNSATISFIABLE if found.changed else ExitCode.OK
    if options.diff:
        from dra_alloc.cli.rewriting import diff_of

        write("".join(map(diff_of, found.changed)))
    elif options.in_place:
        _rewrite(found)
    else:
        _print(found)
    return ExitCode.OK


def _print(found: Conversion) -> None:
    """Write all texts to standard output, a mark between those that have none."""
    from dra_alloc.cli.writing import STDOUT, write_file

    whole = ""
    for text in found.texts:
        if whole:
            directives = re.match(r"(?:[ \t]*(?:#.*)?\r?\n)*%", text.after)
            mark = "" if text.after.startswith("---") else "...\n" if directives else "---\n"
            whole += ("" if whole.endswith("\n") else "\n") + mark
        whole += text.after
    write_file(STDOUT, whole.encode())


def _rewrite(found: Conversion) -> None:
    """Replace the files in which something is converted. Raises: InputError, for those that are not what was read."""
    from dra_alloc.cli.output import write
    from dra_alloc.cli.rewriting import rewrite
    from dra_alloc.report.layout import inert, plural, printable

    counts = {text.name: len(text.changes) for text in found.changed}
    for name in rewrite(found.changed):
        write(inert(printable(f"{name}: {plural(counts[name], 'object')} converted")) + "\n")
    if not found.changed:
        write("nothing to convert\n")
