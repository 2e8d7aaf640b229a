"""
The command `what-if`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

from dra_alloc.cli import options as shared
from dra_alloc.report import PICTURED

_DESCRIPTION: Final = """\
Say what a change does to every workload of the cluster in DUMP: it stays,
moves, no longer fits, did not fit before, runs on and would not come back, or
is new and fits or does not.

The change is a SCENARIO, a YAML file of steps (nodes added, removed, cordoned
or drained, devices tainted, objects applied or deleted, another release; its
JSON schema: --schema), manifests to apply (-f), or both; the manifests come
first. With --base OLD they replace those of OLD: what a pull request changes.
Evicted pods are made anew by their controllers, and look for a place as
kube-scheduler would find it. Beside it stands what is left for each class then,
and what is stranded: free, and of use to no class. Queues, gangs and topologies
of Kueue, KAI and Volcano are not asked: see admit.

With --sweep many changes are asked at once, each alone, on all processors:
scenarios (files, folders, several documents in one) and files with scenarios
by name, releases, gates and clusters, of which every combination is asked.
Each question has a budget of its own. A process that is lost loses no row."""
_EXIT_CODES: Final = """\
exit codes:
  0  nothing gets worse, and all that is new fits
  1  something no longer fits, is gone for good, or is new and does not fit, or
     a budget of disruptions holds up a drain; also where another order would fit;
     or pods run on that could not be made again, as what they name is deleted
  2  bad input or usage, also of one question of a sweep
  3  undecided: the budget ran out, or a question of a sweep has no answer"""


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
    shared.max_age(command)
    command.add_argument(
        "--sweep", nargs="+", action="extend", default=[], metavar="FILE", help="many changes, instead of SCENARIO"
    )
    command.add_argument(
        "--workers",
        type=shared.positive,
        metavar="N",
        help="processes of a sweep (default: one for each processor; fewer than 32 questions need none)",
    )
    command.add_argument("--rows", metavar="FILE", help="write each row of a sweep as a line of JSON as it comes")
    command.add_argument(
        "--any-order",
        action="store_true",
        help="where not all fits, say whether it would in another order, each workload once those before it run; the "
        "exit code stays that of the order at hand, which the scheduler would take",
    )
    command.add_argument("--schema", action="store_true", help="print the JSON schema of scenarios, and nothing else")
    shared.namespace(command)
    shared.pod_templates(command)
    shared.settings(command)
    shared.budget(command)
    shared.watch(command)
    shared.output(command, PICTURED)
    shared.validate(command)
    command.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    """Print what the change does and return the exit code. Raises: InputError, before anything is printed."""
    from dra_alloc.cli.changing import checking, states_of
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import show, write
    from dra_alloc.errors import InputError
    from dra_alloc.report.layout import json_text
    from dra_alloc.report.what_if_report import what_if_report
    from dra_alloc.scenario.left.left import left_in
    from dra_alloc.scenario.what_if.any_order import any_order
    from dra_alloc.scenario.what_if.schema import schema
    from dra_alloc.scenario.what_if.what_if import Fate, what_if

    if options.schema:
        write(json_text(schema()))
        return ExitCode.OK
    if options.sweep:
        if options.any_order:
            raise InputError("--any-order does not go with --sweep")
        from dra_alloc.cli.sweeping import run_sweep

        return run_sweep(options)
    if options.rows or options.workers:
        raise InputError("--rows and --workers are for --sweep")
    if not (options.scenario or options.manifests):
        raise InputError("nothing changes", hint="give a SCENARIO, manifests to apply with -f, or both")
    before, after = states_of(options)
    found = what_if(before, after, checking(options))
    order = any_order(found.now, checking(options)) if options.any_order and found.now is not None else None
    show(options, what_if_report(found, (before, after), left_in(found.after.cluster), order))
    if found.stuck or any(found.count(each) for each in Fate if each.worse):
        return ExitCode.UNSATISFIABLE
    return ExitCode.UNDECIDED if found.unsure or found.count(Fate.UNDECIDED) else ExitCode.OK
