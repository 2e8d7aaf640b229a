"""
`python -m dra_alloc`, and the command `dra-alloc`.
"""

from __future__ import annotations

import os
import sys

#: New containers before the collector looks at them: more than the modules of a command are, which stay anyway. A
#: command makes few that are garbage, and ends soon.
_BETWEEN_COLLECTIONS = 250_000


def main() -> None:
    """Run the command and leave with its exit code; what is loaded for it can be interrupted, too."""
    try:
        from dra_alloc.cli import interrupts  # noqa: PLC0415 - inside: Ctrl-C is heard here first

        interrupts.hear()
        settle()
        from dra_alloc.cli.main import run  # noqa: PLC0415 - as above

        code = run(sys.argv[1:])
        interrupts.leave_when_heard()
    except KeyboardInterrupt:
        os._exit(130)
    if code == 130:
        interrupts.leave(code)
    sys.exit(code)


def settle() -> None:
    """Set what holds for the process: how often the collector looks, and that pydantic need not look for plugins."""
    import atexit  # noqa: PLC0415 - once Ctrl-C is heard
    import gc  # noqa: PLC0415

    gc.set_threshold(_BETWEEN_COLLECTIONS)
    # At the end the collector would walk all objects several times, for as long as an answer takes, and free nothing.
    atexit.register(gc.freeze)
    # To find out that there is none, every package that is installed would be looked at.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


if __name__ == "__main__":
    main()
