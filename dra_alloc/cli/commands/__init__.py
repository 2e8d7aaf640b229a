"""
The commands: a new one is a file beside this that declares its options and runs, and a line here.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from shutil import get_terminal_size
from typing import Final, NamedTuple, NoReturn

from dra_alloc._version import __version__
from dra_alloc.cli import exit_codes
from dra_alloc.cli.settings_file import settle


class Command(NamedTuple):
    """
    A command, its summary, and the module in `dra_alloc.cli` whose `declare` describes it and names what runs.

    The module is loaded when the command is asked for; what it needs to run
    is loaded when it runs.
    """

    name: str
    summary: str
    module: str


COMMANDS: Final = (
    Command("check", "say which devices manifests would get, or why none", "commands.check"),
    Command("explain", "the same, with why these devices and what a refusal rests on", "commands.explain"),
    Command("expand", "print the pods and claims that manifests make", "commands.expand"),
    Command("gang", "place many pods together: all or nothing, or as many as possible", "commands.gang"),
    Command("admit", "say who is admitted by queues, and whether their devices are there", "commands.admit"),
    Command("what-if", "say what a change does to every workload of a cluster", "commands.what_if"),
    Command("capacity", "say how many more nodes make everything fit", "commands.capacity"),
    Command("fleet", "make nodes, slices and classes of shapes, such as real machines", "commands.fleet"),
    Command("validate", "say what the API server would refuse in manifests", "commands.validate"),
    Command("lint", "say what is wrong or risky in manifests, and mend it", "commands.lint"),
    Command("rule", "tell more of a code of lint", "commands.rule"),
    Command("cel", "say which devices a CEL selector matches, and what it costs", "commands.cel"),
    Command("convert", "write objects in another version of resource.k8s.io", "commands.convert"),
    Command("snapshot", "keep what was read from a dump in a file that loads in an instant", "commands.snapshot"),
    Command("conformance", "hold another allocator against this one", "commands.conformance"),
    Command("harness", "answer allocator requests, one JSON object a line", "harness"),
)


class _Parser(argparse.ArgumentParser):
    """Repeats nothing of an argument that could steer a terminal or a build server."""

    def error(self, message: str) -> NoReturn:
        from dra_alloc.report.layout import inert, printable

        super().error(inert(printable(message)))


def parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of `dra-alloc`, with the options of the command that the arguments name."""
    # One is made for every option: none need ask the terminal anew.
    form = partial(argparse.RawDescriptionHelpFormatter, width=get_terminal_size().columns - 2)
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
    # Where the first argument is a command, no other can be meant.
    named = [each for each in COMMANDS if arguments and each.name == arguments[0]]
    for each in named or COMMANDS:
        command = commands.add_parser(each.name, help=each.summary, formatter_class=form, allow_abbrev=False)
        if each.name == asked:
            import_module(f"dra_alloc.cli.{each.module}").declare(command)
            settle(command)
    return top
