"""
Options that several commands have, declared once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from dra_alloc.releases import DEFAULT_RELEASE, NEWEST
from dra_alloc.report import FORMATS
from dra_alloc.work import DEFAULT_WORK

#: Names of what can be made best; cli.objectives makes them, and loads much more than a parser should.
OBJECTIVES: Final = ("fewest-nodes", "least-fragmented", "highest-ranked", "cheapest", "stable")

#: Units of time spans, in seconds, and how many digits a number of them may have.
_SPANS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_DIGITS: Final = 9

Number = TypeVar("Number", int, float)


def inputs(command: argparse.ArgumentParser) -> None:
    """Declare the manifests and the cluster they are applied to."""
    command.add_argument("manifests", nargs="+", metavar="MANIFESTS", help="what would be applied")
    cluster(command, "nodes, slices, classes and claims of the cluster; may be left out if MANIFESTS hold them")
    namespace(command)


def cluster(command: argparse.ArgumentParser, said: str) -> None:
    """Declare what is there already."""
    command.add_argument("--cluster", "-c", nargs="+", action="extend", default=[], metavar="DUMP", help=said)
    max_age(command)


def max_age(command: argparse.ArgumentParser) -> None:
    """Declare how old dumps may be."""
    command.add_argument(
        "--max-age",
        type=_span,
        metavar="AGE",
        help="refuse a DUMP that is older, such as 30m, 12h or 7d: by its newest heartbeat of a Node or Lease, or, "
        "where it has none, by when the file was written",
    )


def _span(text: str) -> int:
    """Return a time span in seconds."""
    number, unit = text[:-1], _SPANS.get(text[-1:])
    if unit is None or not (number.isascii() and number.isdecimal()) or len(number) > _DIGITS:
        raise argparse.ArgumentTypeError(f"{text!r} is no time span such as 90s, 30m, 12h or 7d")
    return int(number) * unit


def namespace(command: argparse.ArgumentParser) -> None:
    """Declare where manifests go that do not say it."""
    command.add_argument(
        "--namespace",
        "-n",
        default="default",
        metavar="NAME",
        help="namespace of manifests that name none (default: default)",
    )


def pod_templates(command: argparse.ArgumentParser) -> None:
    """Declare what teaches kinds that make pods."""
    command.add_argument(
        "--pod-template",
        action="append",
        default=[],
        metavar="KIND=PATH[:COUNT]",
        help="where the pod templates of a kind stand and the number of the pods of each, such as "
        "MyKind=spec.roles[*].template:spec.roles[*].replicas; MyKind= for a kind that makes no pods; may be repeated",
    )


def validate(command: argparse.ArgumentParser) -> None:
    """Declare how strictly documents are read."""
    command.add_argument(
        "--validate",
        choices=("strict", "warn", "ignore"),
        default="strict",
        help="what to do about unknown and repeated fields (default: strict)",
    )


def output(command: argparse.ArgumentParser, formats: Mapping[str, str] = FORMATS) -> None:
    """Declare how the answer is told, by a table of formats as :data:`dra_alloc.report.FORMATS` is one."""
    command.add_argument("--format", choices=tuple(formats), default="text", help="default: text")
    command.add_argument(
        "--report",
        action="append",
        default=[],
        type=lambda text: _report(text, formats),
        metavar="FORMAT=FILE",
        help="write the answer, or what is wrong with the input, to a file, too; may be repeated",
    )
    command.add_argument("--verbose", "-v", action="store_true", help="cut no lists")
    command.set_defaults(formats=formats)


def _report(text: str, formats: Mapping[str, str]) -> tuple[str, str]:
    form, separator, target = text.partition("=")
    if not separator or form not in formats:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form FORMAT=FILE with one of {', '.join(formats)}")
    return form, target


def watch(command: argparse.ArgumentParser) -> None:
    """Declare that the command answers again when its files change."""
    command.add_argument(
        "--watch", action="store_true", help="answer again whenever a file that is read is saved, until Ctrl-C"
    )


def budget(command: argparse.ArgumentParser) -> None:
    """Declare how much a command may work before it leaves the rest undecided; every command that computes has it."""
    command.add_argument(
        "--budget",
        type=positive,
        default=DEFAULT_WORK,
        metavar="N",
        help="units of work, about a microsecond each, that searches, selectors, OR-tools and reasons take together, "
        "half of it in equal parts for the pods, half for those that need more; what is left undecided is named "
        f"(default: {DEFAULT_WORK})",
    )


def objectives(command: argparse.ArgumentParser) -> None:
    """Declare what makes one answer better than another."""
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


def release(command: argparse.ArgumentParser) -> None:
    """Declare the release that is asked, and its gates."""
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


def settings(command: argparse.ArgumentParser) -> None:
    """Declare which kube-scheduler is asked."""
    release(command)
    channel(command, "allocator variant (default: auto, the one the release picks for its gates)", "auto")
    command.add_argument(
        "--semantics",
        choices=("upstream", "intended"),
        default="upstream",
        help="kube-scheduler's answer with its defects, or what the API promises (default: upstream)",
    )


def channel(command: argparse.ArgumentParser, said: str, default: str | None) -> None:
    """Declare which of upstream's allocators is asked."""
    command.add_argument(
        "--channel", choices=("auto", "stable", "incubating", "experimental"), default=default, help=said
    )


def _gate(text: str) -> tuple[str, bool]:
    name, separator, value = text.partition("=")
    if not separator or value.lower() not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME=true or NAME=false")
    return name, value.lower() == "true"


def _reader(kind: type[Number], noun: str, least: str, fits: Callable[[Number], bool]) -> Callable[[str], Number]:
    """Return what reads a number of that kind, and refuses others in the words of a user."""

    def read(text: str) -> Number:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is no {noun}") from None
        if not fits(value):
            raise argparse.ArgumentTypeError(f"has to be {least}")
        return value

    return read


#: What reads the values of options, for `type`.
whole = _reader(int, "whole number", "at least 0", lambda value: value >= 0)
positive = _reader(int, "whole number", "at least 1", lambda value: value >= 1)
any_whole = _reader(int, "whole number", "any", lambda _: True)
seconds = _reader(float, "number", "above 0 and below a million", lambda value: 0 < value < 1e6)
units = _reader(float, "number", "at least 0 and below a million", lambda value: 0 <= value < 1e6)
