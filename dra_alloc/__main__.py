"""
`python -m dra_alloc`, and the command `dra-alloc`.
"""

from __future__ import annotations

import sys

from dra_alloc.cli.main import run


def main() -> None:
    """Run the command and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
