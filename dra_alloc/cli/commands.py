"""
The commands: a new one is a file that declares its options and runs, and a line here.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from typing import Final, NamedTuple, NoReturn

from dra_alloc._version import __version__
from dra_alloc.cli import exit_codes

__all__ = ["COMMANDS", "Command", "parser"]


class Command(NamedTuple):
    """
    A command, its summary, and the module whose `declare` describes it and names what runs.

    The module is loaded when the command is asked for; what it needs to run
    is loaded when it runs.
    """

    name: str
    summary: str
    module: str


COMMANDS: Final = (
    Command("check", "say which devices manifests would get, or why none", "dra_alloc.cli.check"),
    Command("explain", "the same, with why these devices and what a refusal rests on", "dra_alloc.cli.explain"),
    Command("expand", "print the pods and claims that manifests make", "dra_alloc.cli.expand"),
    Command("gang", "place many pods together: all or nothing, or as many as possible", "dra_alloc.cli.gang"),
    Command("what-if", "say what a change does to every workload of a cluster", "dra_alloc.cli.what_if"),
    Command("validate", "say what the API server would refuse in manifests", "dra_alloc.cli.validate"),
    Command("cel", "say which devices a CEL selector matches, and what it costs", "dra_alloc.cli.cel"),
    Command("convert", "write objects in another version of resource.k8s.io", "dra_alloc.cli.convert"),
    Command("snapshot", "keep what was read from a dump in a file that loads in an instant", "dra_alloc.cli.snapshot"),
    Command("conformance", "hold another allocator against this one", "dra_alloc.cli.conformance"),
    Command("harness", "answer allocator requests, one JSON object a line", "dra_alloc.cli.harness"),
)


class _Parser(argparse.ArgumentParser):
    """Repeats nothing of an argument that could steer a terminal or a build server."""

    def error(self, message: str) -> NoReturn:
        from dra_alloc.report.layout import inert, printable

        super().error(inert(printable(message)))


def parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of `dra-alloc`, with the options of the command that the arguments name."""
    form = argparse.RawDescriptionHelpFormatter
    top = _Parser(
        prog="dra-alloc",
        description="Tell, offline, what Kubernetes Dynamic Resource Allocation will do with device claims.",
        epilog=exit_codes.SAID,
        formatter_class=form,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"dra-alloc {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    asked = next((each for each in arguments if not each.startswith("-")), None)
    for each in COMMANDS:
        command = commands.add_parser(each.name, help=each.summary, formatter_class=form, allow_abbrev=False)
        if each.name == asked:
            import_module(each.module).declare(command)
    return top
