"""
What random cases contain: features, pairs of features, how they end, how much they backtrack.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dra_alloc.testing.drawing.features import features, known_features


def backtracked(request: Mapping[str, Any], answer: Mapping[str, Any]) -> int:
    """Return how many steps the search made beyond those that lead straight to a full answer."""
    straight = 1
    for claim in request["claims"]:
        straight += 1
        for each in claim["spec"]["devices"]["requests"]:
            asks = each.get("firstAvailable") or [each["exactly"]]
            straight += 1 + max(ask.get("count") or 1 for ask in asks) + ("firstAvailable" in each)
    return int(answer.get("n") or 0) - straight


def pairs_of(release: str) -> list[tuple[str, str]]:
    """Return the pairs of features that cases of the release can have."""
    return list(itertools.combinations(sorted(known_features(release)), 2))


@dataclass
class Coverage:
    """Counts over many cases of one release."""

    release: str
    cases: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    deep: int = 0
    single: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Count one case."""
        self.cases += 1
        ending = "allocated" if answer.get("results") is not None else "error" if answer.get("err") else "none"
        self.endings[ending] += 1
        self.deep += backtracked(request, answer) > 10
        found = sorted(features(request))
        self.single.update(found)
        self.pairs.update(itertools.combinations(found, 2))

    def missing_pairs(self) -> list[tuple[str, str]]:
        """Return the pairs of features that the release has and no case had."""
        return [pair for pair in pairs_of(self.release) if not self.pairs[pair]]

    def summary(self) -> str:
        """Return the figures in a line."""
        total = max(self.cases, 1)
        endings = ", ".join(f"{name} {count / total:.0%}" for name, count in sorted(self.endings.items()))
        rarest = min((self.pairs[pair], pair) for pair in pairs_of(self.release))
        return (
            f"{self.cases} cases: {endings}; more than 10 steps back {self.deep / total:.0%}; "
            f"pairs of features missing {len(self.missing_pairs())}, rarest {'+'.join(rarest[1])} {rarest[0]}"
        )
