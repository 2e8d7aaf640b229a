"""
The command `gang`.
"""

from __future__ import annotations

from argparse import Namespace

from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.cli.objectives import objectives_of
from dra_alloc.cli.output import show
from dra_alloc.cli.reading import Inputs, note_release, read_inputs, warn
from dra_alloc.cluster.settings import Settings
from dra_alloc.errors import InputError
from dra_alloc.report.gang_report import GANG_FORMATS
from dra_alloc.scenario.gang.joint import JointAnswer, JointOptions, place_jointly
from dra_alloc.scenario.gang.types import Topology, Verdict

__all__ = ["run_gang"]


def run_gang(options: Namespace) -> int:
    """
    Print where the manifests can be placed together; 0 if all of them.

    Raises: InputError, before anything is printed.
    """
    if options.copies is not None and (options.most or options.topology):
        raise InputError("--copies goes with neither --most nor --topology")
    if options.topology == "":
        raise InputError("--topology is empty: it takes the name of a node label")
    if options.most and options.topology:
        raise InputError("--most does not go with --topology: it places as many pods as possible on whatever nodes")
    if options.prefer and not options.topology:
        raise InputError("--prefer says how --topology is meant, which is not given")
    settings = Settings(options.release, dict(options.gate), options.channel, options.semantics)
    settings.profile()
    note_release(settings)
    objectives, problems = objectives_of(options)
    inputs = Inputs(options.manifests, options.cluster, options.namespace, problems=tuple(problems))
    manifests, dump = read_inputs(inputs, settings)
    topology = Topology(options.topology, must=not options.prefer) if options.topology else None
    asked = JointOptions(settings, options.namespace, options.most, options.copies, topology, objectives)
    answer = place_jointly(manifests, dump, asked)
    warn(*manifests.warnings, *dump.warnings)
    show(GANG_FORMATS[options.format](answer, options.verbose))
    return _exit_code(answer)


def _exit_code(answer: JointAnswer) -> ExitCode:
    joint = answer.answers.joint
    if joint.verdict is Verdict.UNDECIDED:
        return ExitCode.UNDECIDED
    wanted = 1 if answer.wanted is None else answer.wanted
    return ExitCode.OK if len(joint.placements) >= wanted else ExitCode.UNSATISFIABLE
