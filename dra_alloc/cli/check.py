"""
The commands `check` and `explain`.
"""

from __future__ import annotations

from argparse import Namespace

from dra_alloc.cli.exit_codes import ExitCode
from dra_alloc.cli.objectives import objectives_of
from dra_alloc.cli.output import show
from dra_alloc.cli.reading import Inputs, note_release, read_inputs, warn
from dra_alloc.cluster.settings import DEFAULT_SETTINGS, Settings
from dra_alloc.errors import Problem
from dra_alloc.limits import DEFAULT_PRUNED_BUDGET
from dra_alloc.report import FORMATS
from dra_alloc.report.counts import summary_counts
from dra_alloc.scenario.check import Check, CheckOptions, check
from dra_alloc.scenario.selecting import require_engine
from dra_alloc.solve.allocator import Budget
from dra_alloc.solve.cpsat.solver import require

__all__ = ["run_check"]


def run_check(options: Namespace) -> int:
    """
    Print the report and return the exit code.

    Raises: InputError, and EngineUnavailable for objectives, before anything is printed.
    """
    settings = Settings(
        options.release, dict(options.gate), options.channel, options.semantics, cel_engine=options.cel_engine
    )
    require_engine(settings)
    note_release(settings)
    objectives, problems = objectives_of(options)
    if objectives:
        require()
    inputs = Inputs(
        options.manifests, options.cluster, options.namespace, options.node, options.validate, tuple(problems)
    )
    manifests, dump = read_inputs(inputs, settings)
    result = check(
        manifests,
        dump,
        CheckOptions(
            settings,
            options.node,
            options.namespace,
            Budget(
                steps=options.steps,
                pruned=min(options.steps, DEFAULT_PRUNED_BUDGET),
                solver=options.solver_units,
            ),
            choices=options.command == "explain",
            objectives=objectives,
        ),
    )
    warn(*manifests.warnings, *dump.warnings)
    if settings.cel_engine != DEFAULT_SETTINGS.cel_engine:
        warn(Problem(f"selectors are evaluated by {settings.cel_engine}, not as kube-scheduler does"))
    show(FORMATS[options.format](result, options.verbose))
    return _exit_code(result)


def _exit_code(result: Check) -> ExitCode:
    counts = summary_counts(result)
    if counts["unsatisfiable"]:
        return ExitCode.UNSATISFIABLE
    return ExitCode.UNDECIDED if counts["undecided"] else ExitCode.OK
