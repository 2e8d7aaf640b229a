"""
`python -m dra_alloc`, and the command `dra-alloc`.
"""

from __future__ import annotations

import gc
import os
import sys

#: New containers before the collector looks at them: a command makes few that are garbage, and ends soon. What it
#: looks at in one go stays a matter of milliseconds.
_BETWEEN_COLLECTIONS = 20_000


def main() -> None:
    """Run the command and leave with its exit code; what is loaded for it can be interrupted, too."""
    gc.set_threshold(_BETWEEN_COLLECTIONS)
    try:
        from dra_alloc.cli import interrupts  # noqa: PLC0415 - inside: Ctrl-C is heard here first

        interrupts.hear()
        from dra_alloc.cli.main import run  # noqa: PLC0415 - as above

        code = run(sys.argv[1:])
        interrupts.leave_when_heard()
    except KeyboardInterrupt:
        os._exit(130)
    if code == 130:
        interrupts.leave(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
