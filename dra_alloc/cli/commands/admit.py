"""
The command `admit`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from dra_alloc.cli import options as shared

_DESCRIPTION: Final = """\
Say who of MANIFESTS is admitted by the queue system whose objects are there,
Kueue, KAI-Scheduler or Volcano, with the queues and the usage in DUMP, and
where those that are admitted find their devices, gangs of KAI and Volcano as a
whole: admitted and placed; admitted, placed in part: with what its gang needs,
and not all of its pods; admitted, not allocatable; waits; never fits;
inadmissible; and why.
Queues, flavors, priorities and Kueue's Configuration may be in either."""
_EXIT_CODES: Final = """\
exit codes:
  0  all are admitted and placed, with all of their pods
  1  some are not, or in part
  2  bad input or usage
  3  undecided: not modelled, or the budget ran out"""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description, command.epilog = _DESCRIPTION, _EXIT_CODES
    shared.inputs(command)
    shared.pod_templates(command)
    command.add_argument(
        "--system",
        default="",
        metavar="NAME[=VERSION]",
        help="the queue system, where there are objects of several: kueue=0.19, kai=0.17 or volcano",
    )
    shared.settings(command)
    shared.budget(command)
    shared.watch(command)
    shared.output(command)
    shared.validate(command)
    command.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    """Print who is admitted, and return the exit code. Raises: InputError, before anything is printed."""
    from dataclasses import replace

    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.nothing import nothing_known
    from dra_alloc.cli.output import show, warn
    from dra_alloc.cli.reading import Inputs, read_inputs, settings_of
    from dra_alloc.pods.workloads.shapes import taught_by
    from dra_alloc.report.admit_report import admit_report
    from dra_alloc.scenario.admit.admit import admit
    from dra_alloc.scenario.admit.answers import AdmitOptions, AdmitVerdict

    settings = settings_of(options)
    taught = tuple(map(taught_by, options.pod_template))
    idle = [each.kind for each in taught if not each.path]
    inputs = Inputs(options.manifests, options.cluster, options.namespace, None, options.validate, taught=taught)
    manifests, dump = read_inputs(inputs, settings)
    found = admit(manifests, dump, AdmitOptions(settings, options.namespace, taught, options.system))
    warn(*manifests.warnings, *dump.warnings)
    unknown = None if found.workloads else nothing_known(replace(manifests, claims=(), templates=()), idle)
    if unknown is not None:
        raise unknown
    show(options, admit_report(found))
    verdicts = {each.verdict for each in found.workloads}
    if verdicts <= {AdmitVerdict.PLACED}:
        return ExitCode.OK
    return ExitCode.UNDECIDED if verdicts <= {AdmitVerdict.PLACED, AdmitVerdict.UNDECIDED} else ExitCode.UNSATISFIABLE
