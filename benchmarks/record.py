"""
Runs what the page of performance is made of, one program after the other, and writes the page.

    python benchmarks/record.py [fleet.py curves.py ...]

A program's lines replace those in `results/` when it ends well; the others stay.
Takes about a quarter of an hour on a machine that does nothing else, and needs
Go for the comparison with upstream. Ends with 1 if a program failed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
#: Each program that the page shows, with its options.
PROGRAMS: Final = {
    "fleet.py": ("--rounds", "3", "--seconds", "30"),
    "workloads.py": ("--rounds", "3", "--seconds", "30"),
    "incremental.py": (),
    "load.py": (),
    "check.py": (),
    "curves.py": (),
    "million.py": (),
}


def record(program: str) -> bool:
    """Return whether the program ended well; its lines are kept then."""
    began = time.monotonic()
    command = [sys.executable, str(HERE / program), *PROGRAMS[program]]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    well = ended.returncode == 0 and bool(ended.stdout)
    if well:
        (HERE / "results" / program).with_suffix(".jsonl").write_text(ended.stdout, encoding="utf-8")
    print(f"{program}: {'recorded' if well else 'FAILED'}, {time.monotonic() - began:.0f} s", flush=True)
    return well


def main() -> int:
    """Run the programs named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").strip().partition("\n")[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"of {', '.join(PROGRAMS)}; default: all")
    chosen = parser.parse_args().programs or list(PROGRAMS)
    unknown = sorted(set(chosen) - PROGRAMS.keys())
    if unknown:
        parser.error(f"not recorded: {', '.join(unknown)}")
    recorded = [record(program) for program in chosen]
    written = subprocess.run([sys.executable, str(HERE / "report.py"), "--write"], check=False)
    return 0 if all(recorded) and written.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
