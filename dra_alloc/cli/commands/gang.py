"""
The command `gang`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from dra_alloc.cli import exit_codes
from dra_alloc.cli import options as shared
from dra_alloc.report import PICTURED

_DESCRIPTION: Final = """\
Say where all pods, claims and templates in MANIFESTS can be placed at once on
the cluster in DUMP: as kube-scheduler goes, one after the other, and jointly,
which finds a placement whenever there is one. Joint placements need OR-tools
(pip install ortools) unless all pods ask for the same."""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description, command.epilog = _DESCRIPTION, exit_codes.SAID
    shared.inputs(command)
    shared.pod_templates(command)
    command.add_argument("--most", action="store_true", help="as many of the pods as possible, not all or nothing")
    command.add_argument(
        "--copies",
        type=shared.whole,
        metavar="N",
        help="N copies of the only pod, claim or template; 0: as many as fit",
    )
    command.add_argument("--topology", metavar="LABEL", help="node label whose value all pods must share")
    command.add_argument("--prefer", action="store_true", help="they should share it, where that is possible")
    shared.objectives(command)
    shared.settings(command)
    shared.budget(command)
    shared.watch(command)
    shared.output(command, PICTURED)
    command.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    """
    Print where the manifests can be placed together; 0 if all of them.

    Raises: InputError, before anything is printed.
    """
    from dra_alloc.cli.objectives import objectives_of
    from dra_alloc.cli.output import show, warn
    from dra_alloc.cli.reading import Inputs, read_inputs, settings_of
    from dra_alloc.pods.workloads.shapes import taught_by
    from dra_alloc.report.gang_report import gang_report
    from dra_alloc.scenario.gang.joint import JointOptions, place_jointly
    from dra_alloc.scenario.gang.types import Topology, Verdict

    _check_together(options)
    settings = settings_of(options)
    objectives, problems = objectives_of(options)
    taught = tuple(map(taught_by, options.pod_template))
    inputs = Inputs(options.manifests, options.cluster, options.namespace, problems=tuple(problems), taught=taught)
    manifests, dump = read_inputs(inputs, settings)
    topology = Topology(options.topology, must=not options.prefer) if options.topology else None
    asked = JointOptions(settings, options.namespace, options.most, options.copies, topology, objectives, taught)
    answer = place_jointly(manifests, dump, asked)
    warn(*manifests.warnings, *dump.warnings)
    show(options, gang_report(answer))
    joint = answer.answers.joint
    wanted = 1 if answer.wanted is None else answer.wanted
    if len(joint.placements) >= wanted and joint.verdict is not Verdict.UNDECIDED:
        return exit_codes.ExitCode.OK
    decided = joint.proven and joint.verdict is not Verdict.UNDECIDED
    return exit_codes.ExitCode.UNSATISFIABLE if decided else exit_codes.ExitCode.UNDECIDED


def _check_together(options: Namespace) -> None:
    """Raise InputError for options that do not go together."""
    from dra_alloc.errors import InputError

    if options.copies is not None and (options.most or options.topology):
        raise InputError("--copies goes with neither --most nor --topology")
    if options.topology == "":
        raise InputError("--topology is empty: it takes the name of a node label")
    if options.most and options.topology:
        raise InputError("--most does not go with --topology: it places as many pods as possible on whatever nodes")
    if options.prefer and not options.topology:
        raise InputError("--prefer says how --topology is meant, which is not given")
