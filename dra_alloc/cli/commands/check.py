"""
The command `check`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from dra_alloc.cli import exit_codes
from dra_alloc.cli import options as shared
from dra_alloc.limits import (
    DEFAULT_LATE_STEP_BUDGET,
    DEFAULT_PRUNED_BUDGET,
    DEFAULT_SOLVER_BUDGET,
    DEFAULT_STEP_BUDGET,
)
from dra_alloc.report import PICTURED

_DESCRIPTION: Final = """\
Say which devices the pods, claims and claim templates in MANIFESTS would get
on the cluster in DUMP, and if none, why not. A pod's claims are allocated
together on one node; pods come one after the other, each seeing what earlier
ones took. Claims that have an allocation in DUMP hold their devices.

MANIFESTS and DUMP are files, folders or - for standard input: YAML or JSON,
gzip or not, as kubectl prints or applies them. Of a folder all *.yaml, *.yml
and *.json files are read, its sub-folders' too, without what begins with a dot;
those that hold no manifests, such as a chart's values, are passed over."""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    declare_options(command, _DESCRIPTION, choices=False)


def declare_options(command: ArgumentParser, description: str, *, choices: bool) -> None:
    """Declare a check that says with `choices` why an allocation is the one it is, too."""
    command.description, command.epilog = description, exit_codes.SAID
    shared.inputs(command)
    shared.pod_templates(command)
    command.add_argument("--node", metavar="NAME", help="look at this node only")
    command.add_argument(
        "--node-choice",
        choices=("score", "first"),
        default="score",
        help="the node a pod goes to, of those that fit: the one that kube-scheduler scores highest, of equal ones the "
        "first in the dump, or the first in the dump (default: score)",
    )
    shared.objectives(command)
    shared.settings(command)
    shared.budget(command)
    shared.watch(command)
    shared.output(command, PICTURED)
    shared.validate(command)
    command.add_argument(
        "--steps",
        type=shared.positive,
        default=DEFAULT_STEP_BUDGET,
        metavar="N",
        help="search steps per pod and node before the answer is undecided (default: "
        f"{DEFAULT_STEP_BUDGET}, cut to {DEFAULT_LATE_STEP_BUDGET} where nothing but OR-tools is likely to decide; "
        f"the pruned search takes at most {DEFAULT_PRUNED_BUDGET})",
    )
    command.add_argument(
        "--solver-units",
        type=shared.units,
        default=DEFAULT_SOLVER_BUDGET,
        metavar="U",
        help="what OR-tools, where installed, may spend per pod and node, in its deterministic units of about "
        f"a second; 0 leaves it out (default: {DEFAULT_SOLVER_BUDGET:g})",
    )
    command.set_defaults(run=_run, choices=choices)


def _run(options: Namespace) -> int:
    """
    Print the report and return the exit code.

    Raises: InputError, and EngineUnavailable for objectives, before anything is printed.
    """
    from dra_alloc.cli.objectives import objectives_of
    from dra_alloc.cli.output import show, warn
    from dra_alloc.cli.reading import Inputs, read_inputs, settings_of
    from dra_alloc.pods.workloads.shapes import taught_by
    from dra_alloc.report.check_report import check_report, summary_counts
    from dra_alloc.scenario.answers import CheckOptions
    from dra_alloc.scenario.check import check
    from dra_alloc.solve.cpsat.solver import require
    from dra_alloc.solve.ladder import Budget

    settings = settings_of(options)
    objectives, problems = objectives_of(options)
    if objectives:
        require()
    taught = tuple(map(taught_by, options.pod_template))
    inputs = Inputs(
        options.manifests, options.cluster, options.namespace, options.node, options.validate, tuple(problems), taught
    )
    manifests, dump = read_inputs(inputs, settings)
    budget = Budget(steps=options.steps, pruned=min(options.steps, DEFAULT_PRUNED_BUDGET), solver=options.solver_units)
    asked = CheckOptions(
        settings, options.node, options.namespace, budget, options.choices, objectives, taught, options.node_choice
    )
    result = check(manifests, dump, asked)
    warn(*manifests.warnings, *dump.warnings)
    show(options, check_report(result, dump.claims))
    counts = summary_counts(result)
    if counts["unsatisfiable"]:
        return exit_codes.ExitCode.UNSATISFIABLE
    return exit_codes.ExitCode.UNDECIDED if counts["undecided"] else exit_codes.ExitCode.OK
