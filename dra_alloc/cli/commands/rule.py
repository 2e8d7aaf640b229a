"""
The command `rule`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Final

_DESCRIPTION: Final = """\
Print the page of a code of lint: why it is, how to mend what it finds, and an
example that is wrong and one that is right. Without a code all are listed."""


def declare(command: ArgumentParser) -> None:
    """Declare the command."""
    command.description = _DESCRIPTION
    command.add_argument("code", nargs="*", metavar="CODE", help="such as E203")
    command.set_defaults(run=_run)


def _run(options: Namespace) -> int:
    """Print the pages and return the exit code. Raises: InputError, for a code that there is not."""
    from dra_alloc.cli.exit_codes import ExitCode
    from dra_alloc.cli.output import write
    from dra_alloc.errors import InputError, did_you_mean, in_brief
    from dra_alloc.linting.codes import RULES
    from dra_alloc.linting.pages import page_of

    if not options.code:
        write("".join(f"{rule.code}  {rule.severity:<7}  {rule.reason}\n" for rule in RULES))
        return ExitCode.OK
    pages = [(code, page_of(code.upper())) for code in options.code]
    for code, page in pages:
        if page is None:
            codes = [rule.code for rule in RULES]
            hint = did_you_mean(code.upper(), codes) or "dra-alloc rule lists all"
            raise InputError(f"there is no code {in_brief(code)!r}", hint=hint)
    write("\n".join(str(page) for _, page in pages))
    return ExitCode.OK
