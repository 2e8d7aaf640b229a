"""
The command `capacity`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from dra_alloc.cli import options as shared
from dra_alloc.limits import DEFAULT_MOST_NODES, DEFAULT_NODE_TRIES

if TYPE_CHECKING:
    from dra_alloc.cluster.edits.cluster_state import ClusterState
    from dra_alloc.errors import Problem
    from dra_alloc.scenario.capacity.shapes import NodeShape

_DESCRIPTION: Final = """\
Say how many more nodes it takes until everything fits: MANIFESTS, applied to
the cluster in DUMP, and what waits there. Nodes to add are like those that are
there, one of each kind, or like the ones that --like names, or of the shapes
that --shape names (`dra-alloc fleet --list`). The fewest are looked for, or the
cheapest by a price list, as kube-scheduler places pods. Beside it stands what is
left for each class as things are, and what is stranded: of use to no class.
Queues, gangs and topologies of Kueue, KAI and Volcano are not asked: see admit."""
_EXIT_CODES: Final = """\
exit codes:
  0  everything fits as things are
  1  it takes more nodes, or more nodes do not help
  2  bad input or usage
  3  undecided: the budget ran out"""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description, command.epilog = _DESCRIPTION, _EXIT_CODES
    command.add_argument("manifests", nargs="*", metavar="MANIFESTS", help="what is applied")
    shared.cluster(command, "the cluster")
    command.add_argument(
        "--scenario", metavar="FILE", help="steps that change the cluster first, as what-if takes them"
    )
    command.add_argument(
        "--like", action="append", default=[], metavar="NODE", help="a node to add more of; may be repeated"
    )
    command.add_argument(
        "--shape", action="append", default=[], metavar="NAME", help="a shape of nodes to add; may be repeated"
    )
    command.add_argument("--shapes", metavar="FILE", help="shapes of your own, as fleet and scenarios have them")
    command.add_argument(
        "--prices",
        metavar="FILE",
        help="prices of nodes, YAML or JSON: the cheapest instead of the fewest, of kinds that have a price",
    )
    command.add_argument(
        "--most",
        type=shared.positive,
        default=DEFAULT_MOST_NODES,
        metavar="N",
        help=f"at most N more of a kind (default: {DEFAULT_MOST_NODES})",
    )
    command.add_argument(
        "--tries",
        type=shared.positive,
        default=DEFAULT_NODE_TRIES,
        metavar="N",
        help=f"numbers of nodes to try (default: {DEFAULT_NODE_TRIES})",
    )
    shared.namespace(command)
    shared.pod_templates(command)
    shared.settings(command)
    shared.budget(command)
    shared.watch(command)
    shared.output(command)
    shared.validate(command)
    command.set_defaults(run=_run, base=[])


def _run(options: Namespace) -> int:
    """Print what it takes and return the exit code. Raises: InputError, before anything is printed."""
    from dra_alloc.cli.changing import checking, states_of
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import show
    from dra_alloc.report.capacity_report import capacity_report
    from dra_alloc.scenario.capacity.capacity import CapacityOptions, capacity
    from dra_alloc.scenario.left.left import left_in

    before, after = states_of(options)
    shapes, unpriced = _priced(options, _shapes(options, after))
    asked = CapacityOptions(shapes, checking(options), options.most, options.tries, unpriced)
    found = capacity(before, after, asked)
    show(options, capacity_report(found, left_in(found.now.check.cluster)))
    if found.undecided:
        return ExitCode.UNDECIDED
    return ExitCode.OK if found.fits else ExitCode.UNSATISFIABLE


def _shapes(options: Namespace, state: ClusterState) -> list[NodeShape]:
    """Return the kinds of nodes that may be added. Raises: ManifestError for all that are not there."""
    from dra_alloc.cluster.edits.nodes import pattern_like
    from dra_alloc.errors import ManifestError
    from dra_alloc.scenario.capacity.shapes import NodeShape, shapes_of
    from dra_alloc.scenario.fleet.catalogue import catalogue
    from dra_alloc.scenario.fleet.fleet import read_fleet
    from dra_alloc.scenario.what_if.shapes import pattern_of

    there = {each.metadata.name or "": each for each in state.dump.nodes}
    known = {**catalogue().shapes, **(read_fleet(options.shapes).shapes if options.shapes else {})}
    lacking = [*_lacking("--like", "node", options.like, there), *_lacking("--shape", "shape", options.shape, known)]
    if lacking:
        raise ManifestError(lacking)
    patterns = [pattern_like(state, name) for name in dict.fromkeys(options.like)]
    patterns += [pattern_of(known[name], name) for name in dict.fromkeys(options.shape)]
    return [NodeShape(each, int(each.name in there)) for each in patterns] or shapes_of(state.dump)


def _priced(options: Namespace, shapes: Sequence[NodeShape]) -> tuple[list[NodeShape], list[str]]:
    """
    Return the kinds of nodes that can be bought, for which price, and those of which the price list has none.

    Raises: ManifestError where these were asked for, or are all.
    """
    from dataclasses import replace

    from dra_alloc.cli.objectives import cheapest_from
    from dra_alloc.errors import ManifestError, Problem, Where, first_few
    from dra_alloc.scenario.prices import has_price

    if options.prices is None:
        return list(shapes), []
    prices = cheapest_from(options.prices)
    found = [each for each in shapes if has_price(prices, each.like.node)]
    lacking = [each.name for each in shapes if not has_price(prices, each.like.node)]
    if lacking and (options.like or options.shape or not found):
        hint = "entries under nodes have a price with any of name and labels"
        said = f"no price is for nodes like {first_few(lacking)}"
        raise ManifestError([Problem(said, Where(file=options.prices), hint)])
    return [replace(each, price=prices.node_price(each.like.node)) for each in found], lacking


def _lacking(option: str, kind: str, names: Sequence[str], known: Collection[str]) -> Iterator[Problem]:
    """Yield a problem for each name that is not known."""
    from dra_alloc.errors import Problem, did_you_mean

    for name in dict.fromkeys(names):
        if name not in known:
            yield Problem(f"{option}: there is no {kind} {name}", hint=did_you_mean(name, known))
