"""
The command `lint`.
"""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from typing import TYPE_CHECKING, Final

from dra_alloc.cli import options as shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dra_alloc.errors import Problem
    from dra_alloc.linting.fixing import MendedText
    from dra_alloc.linting.running import LintAsked, Linted
    from dra_alloc.manifest import Documents

    _Read = tuple[Documents, Sequence[Problem]]

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
  2  something cannot be read, or bad usage
  3  undecided: the budget ran out, and nothing was found before"""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description, command.epilog = _DESCRIPTION, _EXIT_CODES
    command.add_argument("manifests", nargs="+", metavar="PATHS", help="what to lint")
    shared.cluster(command, "what is there: slices and classes that manifests are held against")
    command.add_argument(
        "--previous", nargs="+", action="extend", default=[], metavar="DUMP",
        help="what was there before: slices that those in PATHS replace, and the claims that have their devices",
    )  # fmt: skip
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
    way = command.add_mutually_exclusive_group()
    way.add_argument("--fix", action="store_true", help="mend in the files what can be, then tell what is left")
    way.add_argument("--diff", action="store_true", help="print what --fix would change, and write nothing")
    command.add_argument(
        "--unsafe-fixes", action="store_true", help="mend, too, where that changes what the object means"
    )
    shared.namespace(command)
    shared.release(command)
    shared.budget(command)
    shared.watch(command)
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
    from dra_alloc.cli.nothing import nothing_given
    from dra_alloc.cli.output import show, warn
    from dra_alloc.linting.running import linted
    from dra_alloc.report.lint_report import lint_report
    from dra_alloc.work import ran_out

    asked = _asked(options)
    read = _read(options, asked)
    found = linted(read, asked)
    warn(*found.warnings)
    if not (found.checked or found.unreadable):
        raise nothing_given(found.warnings)
    if options.diff:
        return _diff(options, _mended(options, read[0], found, asked), found)
    if options.fix and _rewritten(_mended(options, read[0], found, asked)):
        found = linted(_read(options, asked), asked)
    if options.write_baseline and not found.unreadable:
        return _write_baseline(options, found)
    show(options, lint_report(found))
    if found.unreadable:
        return ExitCode.BAD_INPUT
    if found.counting and not options.exit_zero:
        return ExitCode.UNSATISFIABLE
    return ExitCode.UNDECIDED if ran_out() else ExitCode.OK


def _asked(options: Namespace) -> LintAsked:
    from dra_alloc.cli.nothing import check_stdin_once
    from dra_alloc.cli.output import input_files
    from dra_alloc.cli.writing import is_one_file
    from dra_alloc.cluster.settings import Settings
    from dra_alloc.errors import InputError, in_brief
    from dra_alloc.linting.baselines import read_baseline
    from dra_alloc.linting.running import LintAsked
    from dra_alloc.linting.selection import CodesAsked

    if options.write_baseline and not options.baseline:
        raise InputError("--write-baseline needs --baseline FILE, the file to write")
    if options.write_baseline and any(is_one_file(options.baseline, each) for each in input_files(options, "baseline")):
        hint = "give the baseline a name of its own"
        raise InputError(f"{in_brief(options.baseline)} is one of the files to read", hint=hint)
    known = read_baseline(options.baseline) if options.baseline and not options.write_baseline else frozenset[str]()
    settings = Settings(options.release, dict(options.gate))
    settings.profile()
    selection = CodesAsked(tuple(options.select), tuple(options.extend_select), tuple(options.ignore))
    check_stdin_once([*options.manifests, *options.cluster, *options.previous])
    there, before = _there(options.cluster), _there(options.previous)
    return LintAsked(settings, options.namespace, selection, known, there, before)


def _there(paths: Sequence[str]) -> Documents | None:
    """Return what is there, or was, if that is given. Raises: InputError."""
    from dra_alloc.errors import ManifestError
    from dra_alloc.manifest import Manner, load_readable

    if not paths:
        return None
    there, wrong = load_readable(paths, manner=Manner("ignore", "keep"))
    if wrong:
        raise ManifestError(wrong, "linted")
    return there


def _read(options: Namespace, asked: LintAsked) -> _Read:
    from dra_alloc.manifest import Manner, load_readable

    return load_readable(options.manifests, manner=Manner("strict", "keep", asked.settings.profile().release))


def _mended(options: Namespace, read: Documents, found: Linted, asked: LintAsked) -> list[MendedText]:
    """Return the files in which something can be mended. Raises: InputError."""
    from dra_alloc.errors import InputError
    from dra_alloc.linting.fixing import mended
    from dra_alloc.manifest.read.inputs import STDIN

    if options.fix and STDIN in options.manifests:
        raise InputError("--fix rewrites files, and standard input is none", hint="--diff shows what it would change")
    return list(mended(read, found, asked, unsafe=options.unsafe_fixes))


def _diff(options: Namespace, texts: Sequence[MendedText], found: Linted) -> int:
    """Print what would change; return 1 where something would, 3 if not all was looked at."""
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import write
    from dra_alloc.cli.rewriting import diff_of

    write("".join(map(diff_of, texts)))
    undecided = _undecided()
    if found.unreadable:
        return ExitCode.BAD_INPUT
    if texts and not options.exit_zero:
        return ExitCode.UNSATISFIABLE
    return ExitCode.UNDECIDED if undecided else ExitCode.OK


def _undecided() -> bool:
    """Return whether the budget ran out, and say so on standard error."""
    from dra_alloc.cli.output import tell
    from dra_alloc.work import ran_out

    notes = ran_out()
    for each in notes:
        tell(f"note: {each}")
    return bool(notes)


def _rewritten(texts: Sequence[MendedText]) -> bool:
    """Rewrite files, and say so on standard error; return whether there were any. Raises: InputError."""
    from dra_alloc.cli.output import tell
    from dra_alloc.cli.rewriting import rewrite
    from dra_alloc.report.layout import plural

    counts = {text.name: text.count for text in texts}
    for name in rewrite(texts):
        tell(f"{name}: {plural(counts[name], 'finding')} mended")
    return bool(texts)


def _write_baseline(options: Namespace, found: Linted) -> int:
    """Write what is found; nothing where not all was looked at."""
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import tell_written
    from dra_alloc.cli.writing import checked, write_file
    from dra_alloc.linting.baselines import baseline_of
    from dra_alloc.report.layout import plural

    if _undecided():
        return ExitCode.UNDECIDED
    target = checked(options.baseline)
    write_file(target, baseline_of(found.findings).encode())
    tell_written(target, f"{options.baseline}: {plural(len(found.findings), 'finding')} written")
    return ExitCode.OK
