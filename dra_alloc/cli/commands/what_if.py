"""
The command `what-if`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dra_alloc.cli import options as shared

if TYPE_CHECKING:
    from dra_alloc.errors import Problem
    from dra_alloc.manifest import Documents
    from dra_alloc.scenario.what_if.what_if import WhatIf

__all__ = ["declare"]

_DESCRIPTION: Final = """\
Say what a change does to every workload of the cluster in DUMP: it stays,
moves, no longer fits, did not fit before, or is new and fits or does not.

The change is a SCENARIO, a YAML file of steps (nodes added, removed, cordoned
or drained, devices tainted, objects applied or deleted, another release; its
JSON schema: --schema), manifests to apply (-f), or both; the manifests come
first. With --base OLD they replace those of OLD: what a pull request changes.
Evicted pods are made anew by their controllers, and look for a place as
kube-scheduler would find it."""
_EXIT_CODES: Final = """\
exit codes:
  0  nothing gets worse, and all that is new fits
  1  something no longer fits, is gone for good, or is new and does not fit
  2  bad input or usage
  3  undecided: the budget ran out"""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description, command.epilog = _DESCRIPTION, _EXIT_CODES
    command.add_argument("scenario", nargs="?", metavar="SCENARIO", help="steps that change the cluster")
    for option, short, name, said in (
        ("--cluster", "-c", "DUMP", "the cluster"),
        ("--manifests", "-f", "NEW", "what is applied to it"),
        ("--base", "-b", "OLD", "what was applied before, and is replaced by NEW"),
    ):
        command.add_argument(option, short, nargs="+", action="extend", default=[], metavar=name, help=said)
    command.add_argument("--schema", action="store_true", help="print the JSON schema of scenarios, and nothing else")
    shared.namespace(command)
    shared.pod_templates(command)
    shared.settings(command)
    shared.budget(command)
    shared.output(command)
    shared.validate(command)
    command.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    """Print what the change does and return the exit code. Raises: InputError, before anything is printed."""
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import show, write
    from dra_alloc.report.layout import json_text
    from dra_alloc.report.what_if_report import what_if_report
    from dra_alloc.scenario.what_if.steps import schema
    from dra_alloc.scenario.what_if.what_if import Fate

    if options.schema:
        write(json_text(schema()))
        return ExitCode.OK
    found = _asked(options)
    show(options, what_if_report(found))
    if any(found.count(each) for each in (Fate.LOST, Fate.GONE, Fate.REFUSED)):
        return ExitCode.UNSATISFIABLE
    return ExitCode.UNDECIDED if found.count(Fate.UNDECIDED) else ExitCode.OK


def _asked(options: Namespace) -> WhatIf:
    """Read everything, with all that is wrong with it at once, and ask."""
    from dra_alloc.cli.nothing import check_stdin_once, nothing_given
    from dra_alloc.cli.reading import settings_of
    from dra_alloc.errors import InputError, ManifestError, by_place
    from dra_alloc.pods.workloads.shapes import taught_by
    from dra_alloc.scenario.check import CheckOptions
    from dra_alloc.scenario.what_if.objects import states
    from dra_alloc.scenario.what_if.reading import Scenario, read_scenario, with_lines
    from dra_alloc.scenario.what_if.what_if import after_steps, what_if

    if options.base and not options.manifests:
        raise InputError("--base says what --manifests replace, which are not given")
    if not (options.scenario or options.manifests):
        raise InputError("nothing changes", hint="give a SCENARIO, manifests to apply with -f, or both")
    if not options.cluster:
        raise InputError("there is no cluster to change", hint="give its dump with --cluster")
    check_stdin_once([*options.manifests, *options.cluster, *options.base])
    settings = settings_of(options)
    taught = tuple(map(taught_by, options.pod_template))
    scenario, wrong = read_scenario(options.scenario) if options.scenario else (Scenario(), ())
    problems: list[Problem] = [*wrong]
    reading = _Reading(options, problems)
    dump, base, manifests = map(reading.documents, (options.cluster, options.base, options.manifests))
    if options.manifests and not problems and not (manifests.places or manifests.unknown):
        raise nothing_given()
    before, after = states(dump, base, manifests, settings)
    after, wrong = after_steps(after, scenario, reading.beside)
    problems += wrong
    if problems:
        raise ManifestError(by_place(with_lines(problems, scenario.file)))
    return what_if(before, after, CheckOptions(settings, namespace=options.namespace, taught=taught))


class _Reading:
    """Inputs as they come up; what cannot be read is a problem, and missing."""

    def __init__(self, options: Namespace, problems: list[Problem]) -> None:
        self._options = options
        self._problems = problems

    def documents(self, paths: Sequence[str]) -> Documents:
        """Return the objects of files, in their namespaces."""
        from dra_alloc.cli.output import warn
        from dra_alloc.manifest import Documents, Manner, load_readable
        from dra_alloc.pods.naming import in_namespace

        manner = Manner(self._options.validate)
        found, wrong = load_readable(paths, manner=manner) if paths else (Documents(), ())
        self._problems += wrong
        warn(*found.warnings)
        return in_namespace(found, self._options.namespace)

    def beside(self, path: str) -> Documents:
        """
        Return the objects of a file that a scenario names.

        Raises: InputError for one that a report would replace.
        """
        from dra_alloc.cli.writing import is_one_file
        from dra_alloc.errors import InputError

        file = str(Path(self._options.scenario).parent / path)
        for _, target in self._options.report:
            if is_one_file(target, file):
                self._options.report = ()  # nor with what is wrong
                raise InputError(f"{target} is one of the files to read", hint="give the report a name of its own")
        return self.documents([file])
