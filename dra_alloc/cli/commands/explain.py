"""
The command `explain`: a check, with more reasons.
"""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Final

from dra_alloc.cli.commands.check import declare_options

_DESCRIPTION: Final = """\
As check, with more reasons. For what is allocated: why not a preferred
alternative, and what became of the devices that come before the ones chosen.
For what is not: the smallest set of facts it rests on, and the changes that
would be enough, each of them tried. Nothing is cut, as with --verbose."""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    declare_options(command, _DESCRIPTION, choices=True)
    command.set_defaults(verbose=True)
