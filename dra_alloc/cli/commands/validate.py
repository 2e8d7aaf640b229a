"""
The command `validate`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from dra_alloc.cli import options as shared

_DESCRIPTION: Final = """\
Say what the API server of a release would refuse in the objects in PATHS if
they were created, or changed what is in --old, in its words, with file, line
and column: all faults of all files at once. Looked at are the kinds of
resource.k8s.io, Pods, and the kinds that make pods; others are counted. What
may not be changed is known of resource.k8s.io; of a changed Pod containers,
claims and nodeSelector are looked at, of what makes pods selectors, serviceName,
podManagementPolicy, completions, completionMode and managedBy, and a note says
that there is more. Whether what an object names is there is not asked; check
does that.

PATHS are files, folders or - for standard input. Templates that were not
rendered are passed over with a warning."""
_EXIT_CODES: Final = """\
exit codes:
  0  nothing would be refused
  1  something would be refused
  2  something cannot be read, or bad usage"""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description, command.epilog = _DESCRIPTION, _EXIT_CODES
    command.add_argument("manifests", nargs="+", metavar="PATHS", help="what would be applied")
    command.add_argument(
        "--old",
        nargs="+",
        default=[],
        metavar="PATH",
        help="what is there: objects of the same name are changed",
    )
    command.add_argument(
        "--subresource",
        choices=("status",),
        default="",
        help="of claims and taint rules in --old only the status is changed",
    )
    shared.namespace(command)
    shared.release(command)
    shared.watch(command)
    shared.output(command)
    shared.validate(command)
    command.add_argument("--exit-zero", action="store_true", help="exit with 0, not 1, where something is refused")
    command.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    """Print what would be refused and return the exit code. Raises: InputError."""
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.nothing import check_stdin_once, nothing_given
    from dra_alloc.cli.output import show, warn
    from dra_alloc.cluster.settings import Settings
    from dra_alloc.errors import ManifestError, Problem
    from dra_alloc.manifest import Documents, Manner, load_readable
    from dra_alloc.report.validate_report import validate_report
    from dra_alloc.scenario.validating import Request, found_in, validated, without_templates

    settings = Settings(options.release, dict(options.gate))
    check_stdin_once([*options.manifests, *options.old])
    manner = Manner(options.validate, "keep", settings.profile().release)
    documents, problems = load_readable(options.manifests, manner=manner)
    old, wrong = Documents(), tuple[Problem, ...]()
    if options.old:
        old, wrong = load_readable(options.old, manner=Manner("ignore", release=manner.release))
    if wrong:
        raise ManifestError(wrong)
    request = Request(options.namespace, found_in(old, options.namespace), options.subresource)
    found = without_templates(validated(documents, problems, settings, request))
    warn(*found.warnings)
    if not (found.checked or found.left_alone or found.faults or found.unreadable):
        raise nothing_given(found.warnings)
    show(options, validate_report(found))
    if found.unreadable:
        return ExitCode.BAD_INPUT
    return ExitCode.UNSATISFIABLE if found.faults and not options.exit_zero else ExitCode.OK
