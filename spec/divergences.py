"""
The behaviours in which allocators differ, as a page of data: what, where, since when, and what shows it.

    python -m spec.divergences --write   writes spec/divergences.yaml again

What and where follow from `dra_alloc.traits`, the vectors from what they name. The statements are kept by hand, and
whether a defect was `found_here`: by comparing answers, before we knew of a report.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from dra_alloc.traits import TRAITS, Channel
from spec.case import HERE, VECTORS, AllocationCase, cases, yaml_of
from spec.layout import written

FILE: Final = HERE / "divergences.yaml"

#: A release, or a line from its first alpha on.
At = Annotated[str, Field(pattern=r"^\d+\.\d+(\.\d+(-(alpha|beta|rc)\.\d+)?)?$")]


class Place(BaseModel):
    """Channels, and the releases in which they show it: since the one, before the other, and before its backports."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    channels: tuple[Channel, ...]
    since: At | None = None
    before: At | None = None
    backports: tuple[At, ...] = ()


class Divergence(BaseModel):
    """One behaviour; a defect is what `semantics: intended` switches off."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    summary: str
    defect: bool
    issue: str | None = None
    statements: tuple[str, ...]
    holds: tuple[Place, ...]
    vectors: tuple[str, ...]
    found_here: bool = False


def read() -> dict[str, Divergence]:
    """Return the recorded divergences by their names."""
    return TypeAdapter(dict[str, Divergence]).validate_python(yaml_of(FILE))


def made(kept: Mapping[str, Divergence]) -> dict[str, Any]:
    """Return the divergences as traits and vectors have them now, with what is kept by hand of these."""
    shown: dict[str, list[str]] = {}
    for path, case in cases("allocation"):
        if isinstance(case, AllocationCase):
            for name in case.traits:
                shown.setdefault(name, []).append(path.relative_to(VECTORS).with_suffix("").as_posix())
    found: dict[str, Any] = {}
    for trait, records in sorted(TRAITS.items()):
        issues = sorted({record.issue for record in records if record.issue is not None})
        known = kept.get(str(trait))
        found[str(trait)] = {
            "summary": records[0].summary,
            "defect": any(record.defect for record in records),
            **({"found_here": True} if known is not None and known.found_here else {}),
            **({"issue": f"kubernetes/kubernetes#{issues[0]}"} if issues else {}),
            "statements": list(known.statements) if known is not None else [],
            "holds": [
                {
                    "channels": [str(channel) for channel in Channel if channel in record.channels],
                    **({"since": record.span.start} if record.span.start else {}),
                    **({"before": record.span.end} if record.span.end else {}),
                    **({"backports": list(record.span.backports)} if record.span.backports else {}),
                }
                for record in records
            ],
            "vectors": shown.get(str(trait), []),
        }
    return found


def main() -> int:
    """Write the page again."""
    if sys.argv[1:] != ["--write"]:
        print(__doc__)
        return 2
    known = read() if FILE.exists() else {}
    head = "# What differs between allocators. By `python -m spec.divergences --write`; see there what is by hand.\n"
    FILE.write_text(head + written(made(known)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
