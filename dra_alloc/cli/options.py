"""
The command line: arguments to options, nothing else.
"""

from __future__ import annotations

import argparse
from typing import Final

from dra_alloc._version import __version__
from dra_alloc.cluster.settings import DEFAULT_RELEASE
from dra_alloc.limits import (
    DEFAULT_LATE_STEP_BUDGET,
    DEFAULT_PRUNED_BUDGET,
    DEFAULT_SOLVER_BUDGET,
    DEFAULT_STEP_BUDGET,
)
from dra_alloc.releases import NEWEST

__all__ = ["OBJECTIVES", "parser"]

#: Names of what can be made best; cli.objectives makes them, and loads much more than a parser should.
OBJECTIVES: Final = ("fewest-nodes", "least-fragmented", "highest-ranked", "cheapest", "stable")

_EXIT_CODES: Final = """\
exit codes:
  0  as expected: everything can be allocated
  1  something cannot be allocated
  2  bad input or usage
  3  undecided: the budget ran out
  70 a bug of dra-alloc
  130 interrupted, as by Ctrl-C"""

_CHECK: Final = """\
Say which devices the pods, claims and claim templates in MANIFESTS would get
on the cluster in DUMP, and if none, why not. A pod's claims are allocated
together on one node; pods come one after the other, each seeing what earlier
ones took. Claims that have an allocation in DUMP hold their devices.

MANIFESTS and DUMP are files, folders or - for standard input: YAML or JSON,
gzip or not, as kubectl prints or applies them. Of a folder all *.yaml, *.yml
and *.json files are read, its sub-folders' too, without what begins with a dot;
those that hold no manifests, such as a chart's values, are passed over."""

_GANG: Final = """\
Say where all pods, claims and templates in MANIFESTS can be placed at once on
the cluster in DUMP: as kube-scheduler goes, one after the other, and jointly,
which finds a placement whenever there is one. Joint placements need OR-tools
(pip install ortools) unless all pods ask for the same."""

_PACK: Final = """\
Read a dump once, and write it as a snapshot, which every command takes where it
takes a DUMP. A snapshot is a cache: it is refused when one of the files it was
made of changed, when a folder it was made of has a manifest more or less, or
when it was made by another version of dra-alloc. Files and folders are looked
for where they were from the snapshot; one that is not there is a warning."""

_EXPLAIN: Final = """\
As check, with more reasons. For what is allocated: why not a preferred
alternative, and what became of the devices that come before the ones chosen.
For what is not: the smallest set of facts it rests on, and the changes that
would be enough, each of them tried."""

_CONFORMANCE: Final = """\
Start a command that speaks the harness protocol, ask it random questions and
the vectors of the specification, and count by rule how many of its answers
are as expected: of random questions as dra-alloc's own, of vectors as
recorded from Kubernetes."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of `dra-alloc`; the namespace has `command`."""
    top = argparse.ArgumentParser(
        prog="dra-alloc",
        description="Tell, offline, what Kubernetes Dynamic Resource Allocation will do with device claims.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"dra-alloc {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _check(commands, "check", "say which devices manifests would get, or why none", _CHECK)
    _check(commands, "explain", "the same, with why these devices and what a refusal rests on", _EXPLAIN)
    _gang(commands)
    _cel(commands)
    _snapshot(commands)
    _conformance(commands)
    commands.add_parser(
        "harness",
        help="answer allocator requests, one JSON object a line",
        description="Read one JSON request a line on standard input, write one JSON answer a line on standard output.",
        allow_abbrev=False,
    )
    return top


def _check(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str, description: str
) -> None:
    check = commands.add_parser(
        name,
        help=summary,
        description=description,
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _inputs(check)
    check.add_argument("--node", metavar="NAME", help="look at this node only")
    _objectives(check)
    _settings(check)
    _output(check)
    _engine(check, "--cel-engine", "native, or cel-python for a second opinion")
    check.add_argument(
        "--validate",
        choices=("strict", "warn", "ignore"),
        default="strict",
        help="what to do about unknown and repeated fields (default: strict)",
    )
    check.add_argument(
        "--steps",
        type=_positive,
        default=DEFAULT_STEP_BUDGET,
        metavar="N",
        help="search steps per pod and node before the answer is undecided (default: "
        f"{DEFAULT_STEP_BUDGET}, cut to {DEFAULT_LATE_STEP_BUDGET} where nothing but OR-tools is likely to decide; "
        f"the pruned search takes at most {DEFAULT_PRUNED_BUDGET})",
    )
    check.add_argument(
        "--solver-units",
        type=_units,
        default=DEFAULT_SOLVER_BUDGET,
        metavar="U",
        help="what OR-tools, where installed, may spend per pod and node, in its deterministic units of about "
        f"a second; 0 leaves it out (default: {DEFAULT_SOLVER_BUDGET:g})",
    )


def _objectives(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--objective",
        action="append",
        default=[],
        type=_objective_names,
        metavar="NAME[,NAME...]",
        help=f"the best answer instead of the first, by any of {', '.join(OBJECTIVES)}; the first named decides, the "
        "next breaks ties. kube-scheduler has none, so the answer is what the API promises (needs OR-tools)",
    )
    command.add_argument("--prices", metavar="FILE", help="for cheapest: prices of devices and nodes, YAML or JSON")
    command.add_argument(
        "--previous",
        metavar="FILE",
        help="for stable: the answer to hold on to, ResourceClaims with a status or JSON of check or gang",
    )


def _objective_names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in OBJECTIVES:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(OBJECTIVES)}")
    return names


def _inputs(command: argparse.ArgumentParser) -> None:
    command.add_argument("manifests", nargs="+", metavar="MANIFESTS", help="what would be applied")
    command.add_argument(
        "--cluster",
        nargs="+",
        action="extend",
        default=[],
        metavar="DUMP",
        help="nodes, slices, classes and claims of the cluster; may be left out if MANIFESTS hold them",
    )
    command.add_argument(
        "--namespace",
        "-n",
        default="default",
        metavar="NAME",
        help="namespace of manifests that name none (default: default)",
    )


def _output(command: argparse.ArgumentParser) -> None:
    command.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    command.add_argument("--verbose", "-v", action="store_true", help="cut no lists")


def _gang(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    gang = commands.add_parser(
        "gang",
        help="place many pods together: all or nothing, or as many as possible",
        description=_GANG,
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    _inputs(gang)
    gang.add_argument("--most", action="store_true", help="as many of the pods as possible, not all or nothing")
    gang.add_argument(
        "--copies", type=_whole, metavar="N", help="N copies of the only pod, claim or template; 0: as many as fit"
    )
    gang.add_argument("--topology", metavar="LABEL", help="node label whose value all pods must share")
    gang.add_argument("--prefer", action="store_true", help="they should share it, where that is possible")
    _objectives(gang)
    _settings(gang)
    _output(gang)


def _cel(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    cel = commands.add_parser(
        "cel",
        help="say which devices a CEL selector matches, and what it costs",
        description="Say which devices a CEL selector matches, and on which it fails and why; "
        "without --device and --cluster only whether it compiles, and its cost.",
        epilog="exit codes: 0 it compiles, and a device matches and none fails; 1 no device matches or one fails; "
        "2 it does not compile, or bad input. With --engine both: 0 all engines agree, 1 they differ, 2 the native "
        "one does not compile it",
        allow_abbrev=False,
    )
    cel.add_argument("expression", metavar="EXPR", help="the selector")
    cel.add_argument(
        "--device",
        action="append",
        default=[],
        metavar="FILE",
        help="devices as in a ResourceSlice, one or a list, or ResourceSlices; YAML or JSON, - for standard input; "
        "may be repeated",
    )
    cel.add_argument("--driver", default="", metavar="NAME", help="driver of devices in FILE that do not say theirs")
    cel.add_argument(
        "--cluster", nargs="+", action="extend", default=[], metavar="DUMP", help="files with ResourceSlices"
    )
    _engine(cel, "--engine", "native, cel-python for a second opinion, or both, to see where they differ")
    cel.add_argument(
        "--mode",
        choices=("stored", "new"),
        default="stored",
        help="kube-scheduler's environment, or the API server's for new objects (default: stored)",
    )
    _settings(cel)
    _output(cel)


def _engine(command: argparse.ArgumentParser, name: str, choices: str) -> None:
    # No argparse choices: the engines are a table of dra_alloc.cel, which --help need not load.
    said = f"who evaluates selectors: {choices} (default: native; others are extras, and no kube-scheduler)"
    command.add_argument(name, default="native", metavar="NAME", help=said)


def _conformance(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    conformance = commands.add_parser(
        "conformance", help="hold another allocator against this one", description=_CONFORMANCE, allow_abbrev=False
    )
    actions = conformance.add_subparsers(dest="action", required=True, metavar="ACTION")
    run = actions.add_parser(
        "run",
        help="ask it, and say which rules its answers break",
        description=_CONFORMANCE,
        epilog="exit codes: 0 all answers as expected; 1 some are not, or are missing; 2 bad input, or it cannot start",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    run.add_argument("--implementation", required=True, metavar="CMD", help="command that speaks the harness protocol")
    run.add_argument("--release", metavar="R", help="Kubernetes release to ask for (default: 1.36, vectors: all)")
    run.add_argument(
        "--channel",
        choices=("auto", "stable", "incubating", "experimental"),
        help="allocator variant to ask for (default: auto, vectors: all)",
    )
    run.add_argument("--cases", type=_whole, default=300, metavar="N", help="random cases (default: 300)")
    run.add_argument("--seed", type=int, default=1, metavar="S", help="of the random cases (default: 1)")
    run.add_argument("--vectors", action="store_true", help="ask the vectors of the specification, too")
    run.add_argument("--timeout", type=_seconds, default=60.0, metavar="SECONDS", help="for one answer (default: 60)")
    run.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    run.add_argument("--junit", metavar="FILE", help="write a JUnit file, too")


def _snapshot(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "keep what was read from a dump in a file that loads in an instant"
    snapshot = commands.add_parser("snapshot", help=about, description=f"To {about}.", allow_abbrev=False)
    verbs = snapshot.add_subparsers(dest="verb", required=True, metavar="VERB")
    pack = verbs.add_parser(
        "pack",
        help="write a snapshot",
        description=_PACK,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    pack.add_argument("files", nargs="+", metavar="FILE", help="files, folders or - for standard input")
    pack.add_argument("-o", "--output", required=True, metavar="SNAPSHOT", help="the file to write")
    pack.add_argument(
        "--validate",
        choices=("strict", "warn", "ignore"),
        default="strict",
        help="what to do about unknown and repeated fields (default: strict)",
    )


def _settings(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--release",
        default=DEFAULT_RELEASE,
        metavar="R",
        help=f"Kubernetes release, {', '.join(NEWEST)} or a patch of them; a patch newer than the newest known "
        f"one is answered as that, with a note (default: {DEFAULT_RELEASE})",
    )
    command.add_argument(
        "--gate",
        action="append",
        default=[],
        type=_gate,
        metavar="NAME=true|false",
        help="set a feature gate; may be repeated",
    )
    command.add_argument(
        "--channel",
        choices=("auto", "stable", "incubating", "experimental"),
        default="auto",
        help="allocator variant (default: auto, the one the release picks for its gates)",
    )
    command.add_argument(
        "--semantics",
        choices=("upstream", "intended"),
        default="upstream",
        help="kube-scheduler's answer with its defects, or what the API promises (default: upstream)",
    )


def _gate(text: str) -> tuple[str, bool]:
    name, separator, value = text.partition("=")
    if not separator or value.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=true or NAME=false")
    return name, value.lower() == "true"


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


def _whole(text: str) -> int:
    number = _integer(text)
    if number < 0:
        raise argparse.ArgumentTypeError("has to be at least 0")
    return number


def _seconds(text: str) -> float:
    number = _number(text)
    if not 0 < number < 1e6:
        raise argparse.ArgumentTypeError("has to be above 0 and below a million")
    return number


def _units(text: str) -> float:
    number = _number(text)
    if not 0 <= number < 1e6:
        raise argparse.ArgumentTypeError("has to be at least 0 and below a million")
    return number


def _positive(text: str) -> int:
    number = _integer(text)
    if number < 1:
        raise argparse.ArgumentTypeError("has to be at least 1")
    return number
