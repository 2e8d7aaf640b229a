"""
The command `lint`.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING, Final

from dra_alloc.cli import options as shared

if TYPE_CHECKING:
    from dra_alloc.linting.running import LintAsked, Linted

__all__ = ["declare"]

_DESCRIPTION: Final = """\
Say what is wrong or risky in manifests before they are applied, each with a
stable code, file, line and column, and most of it with what to write instead:
all that validate says, shapes that no object has, selectors and constraints
held against what a cluster publishes, fields that a release drops, and claims
that pods cannot use or share. `dra-alloc rule CODE` tells more of a code.

A comment suppresses a code on its line, or in what begins below it:
# dra-alloc: ignore[CODE] reason. In rendered files the annotation
dra-alloc/ignore: CODE reason does so for its object.

PATHS are files, folders or - for standard input. Templates that were not
rendered are passed over with a warning."""
_EXIT_CODES: Final = """\
exit codes:
  0  nothing found above info
  1  something found
  2  something cannot be read, or bad usage"""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description, command.epilog = _DESCRIPTION, _EXIT_CODES
    command.add_argument("manifests", nargs="+", metavar="PATHS", help="what to lint")
    shared.cluster(command, "what is there: slices and classes that manifests are held against")
    codes = command.add_argument_group("codes, or their beginnings, with commas between")
    codes.add_argument(
        "--select", type=_codes, action="extend", default=[], metavar="CODES", help="look for these only"
    )
    codes.add_argument(
        "--extend-select", type=_codes, action="extend", default=[], metavar="CODES", help="look for these, too"
    )
    codes.add_argument("--ignore", type=_codes, action="extend", default=[], metavar="CODES", help="leave these out")
    command.add_argument("--baseline", metavar="FILE", help="tell only what is not in it")
    command.add_argument(
        "--write-baseline", action="store_true", help="write all that is found to the baseline, and tell nothing of it"
    )
    shared.namespace(command)
    shared.release(command)
    shared.output(command)
    command.add_argument("--exit-zero", action="store_true", help="exit with 0, not 1, where something is found")
    command.set_defaults(run=_run)


def _codes(text: str) -> list[str]:
    found = [each.strip() for each in text.split(",") if each.strip()]
    if not found:
        raise ArgumentTypeError("names no code")
    return found


def _run(options: Namespace) -> int:
    """Print what is found and return the exit code. Raises: InputError."""
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import show, warn
    from dra_alloc.report.lint_report import lint_report

    asked = _asked(options)
    found = _linted(options, asked)
    warn(*found.warnings)
    if options.write_baseline and not found.unreadable:
        return _write_baseline(options, found)
    show(options, lint_report(found))
    if found.unreadable:
        return ExitCode.BAD_INPUT
    return ExitCode.UNSATISFIABLE if found.counting and not options.exit_zero else ExitCode.OK


def _asked(options: Namespace) -> LintAsked:
    from dra_alloc.cluster.settings import Settings
    from dra_alloc.errors import InputError
    from dra_alloc.linting.baselines import read_baseline
    from dra_alloc.linting.running import LintAsked
    from dra_alloc.linting.selection import CodesAsked

    if options.write_baseline and not options.baseline:
        raise InputError("--write-baseline needs --baseline FILE, the file to write")
    known = read_baseline(options.baseline) if options.baseline and not options.write_baseline else frozenset[str]()
    settings = Settings(options.release, dict(options.gate))
    settings.profile()
    selection = CodesAsked(tuple(options.select), tuple(options.extend_select), tuple(options.ignore))
    return LintAsked(settings, options.namespace, selection, known)


def _linted(options: Namespace, asked: LintAsked) -> Linted:
    """Return what is found in the files. Raises: InputError."""
    from dra_alloc.cli.nothing import check_stdin_once, nothing_given
    from dra_alloc.errors import ManifestError
    from dra_alloc.linting.running import linted
    from dra_alloc.manifest import Manner, load_readable

    check_stdin_once([*options.manifests, *options.cluster])
    release = asked.settings.profile().release
    cluster = None
    if options.cluster:
        cluster, wrong = load_readable(options.cluster, manner=Manner("ignore", "keep"))
        if wrong:
            raise ManifestError(wrong, "linted")
    read = load_readable(options.manifests, manner=Manner("strict", "keep", release))
    found = linted(read, cluster, asked)
    documents = read[0]
    if not (documents.places or documents.unknown or found.findings or found.unreadable or found.checked):
        raise nothing_given()
    return found


def _write_baseline(options: Namespace, found: Linted) -> int:
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import write
    from dra_alloc.cli.writing import write_file
    from dra_alloc.linting.baselines import baseline_of
    from dra_alloc.report.layout import inert, plural, printable

    write_file(options.baseline, baseline_of(found.findings).encode())
    write(inert(printable(f"{options.baseline}: {plural(len(found.findings), 'finding')} written\n")))
    return ExitCode.OK
