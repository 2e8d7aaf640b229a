"""
Hypothesis strategies: clusters first, claims drawn from them, whole requests, quantities, versions, spoilt documents.

Everything is plain JSON, as an API server would send it. The choices are those
of the seeded generators, made by Hypothesis, so that cases shrink and replay.
Needs the extra ``testing``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeAlias, TypeVar

from dra_alloc.releases import NEWEST
from dra_alloc.testing.admitted import admit_claim, admit_slice
from dra_alloc.testing.cases import random_request
from dra_alloc.testing.drawing.claims import claims as drawn_claims
from dra_alloc.testing.drawing.claims import classes as drawn_classes
from dra_alloc.testing.drawing.cluster import DrawnCluster
from dra_alloc.testing.drawing.cluster import cluster as drawn_cluster
from dra_alloc.testing.drawing.dialect import SPOILING, Dialect, Mix
from dra_alloc.testing.drawing.draw import Chooser
from dra_alloc.testing.drawing.mutation import mutated
from dra_alloc.testing.drawing.questions import as_asked

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        'dra_alloc.testing.strategies needs Hypothesis: pip install "dra-alloc[testing]"', name=missing.name
    ) from None

__all__ = [
    "claims_from",
    "classes_from",
    "clusters",
    "dialects",
    "nearly",
    "quantities",
    "requests",
    "versions",
]

Json: TypeAlias = dict[str, Any]
T = TypeVar("T")

_CHANNELS: Final = ("auto", "stable", "incubating", "experimental")
_STEPS: Final = 1000


class _Drawn:
    """Choices made by Hypothesis; the first and the least of each is the simplest."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def chance(self, rate: float) -> bool:
        if rate <= 0 or rate >= 1:
            return rate > 0
        return self._draw(st.integers(0, _STEPS - 1)) >= _STEPS * (1 - rate)

    def integer(self, low: int, high: int) -> int:
        return self._draw(st.integers(low, high))

    def choice(self, options: Sequence[T]) -> T:
        return self._draw(st.sampled_from(options))

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        left = list(options)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(min(count, len(left)))]


def dialects(
    releases: Iterable[str] = tuple(NEWEST), channels: Iterable[str] = _CHANNELS, *, rich_selectors: bool = True
) -> st.SearchStrategy[Dialect]:
    """Return releases with channels: what a case may use."""
    pairs = st.tuples(st.sampled_from(tuple(releases)), st.sampled_from(tuple(channels)))
    return pairs.map(lambda pair: Dialect(*pair, rich_selectors=rich_selectors))


@st.composite
def clusters(draw: st.DrawFn, dialect: Dialect | None = None, *, valid: bool = True) -> DrawnCluster:
    """
    Return clusters: `node`, `slices`, and what is held (`allocated`, `allocated_shared`, `aggregated`).

    With `valid` every slice is one that the API server admits and every pool is
    complete; without, pools may be incomplete, attributes odd and state strange.
    """
    drawn = _Drawn(draw)
    made = drawn_cluster(drawn, _mix(drawn, valid=valid), dialect or Dialect("1.36"))
    if valid:
        for each in made.slices:
            admit_slice(each)
    return made


@st.composite
def classes_from(draw: st.DrawFn, cluster: DrawnCluster, dialect: Dialect | None = None) -> list[Json]:
    """Return the device classes that claims drawn from the cluster name."""
    drawn = _Drawn(draw)
    return drawn_classes(cluster, drawn, _mix(drawn, valid=True), dialect or Dialect("1.36"))


@st.composite
def claims_from(
    draw: st.DrawFn, cluster: DrawnCluster, dialect: Dialect | None = None, *, valid: bool = True
) -> list[Json]:
    """Return claims to allocate together, most of what they ask for being in the cluster."""
    drawn = _Drawn(draw)
    made = drawn_claims(cluster, drawn, _mix(drawn, valid=valid), dialect or Dialect("1.36"))
    if valid:
        for each in made:
            admit_claim(each)
    return made


@st.composite
def requests(
    draw: st.DrawFn, release: str = "1.36", channel: str = "auto", *, valid: bool = False, rich_selectors: bool = True
) -> Json:
    """
    Return requests of the harness protocol, op `allocate`: a whole question with every feature of release and channel.

    Without `valid` some hold what no API server would have stored.
    """
    dialect = Dialect(release, channel, rich_selectors=rich_selectors)
    return as_asked(random_request(_Drawn(draw), dialect, spoilt=not valid))


@st.composite
def nearly(draw: st.DrawFn, documents: st.SearchStrategy[T], changes: int = 1) -> T:
    """Return documents that differ in so many places from ones that are drawn: dropped, doubled, renamed, replaced."""
    made: T = mutated(draw(documents), _Drawn(draw), changes)
    return made


def quantities() -> st.SearchStrategy[str]:
    """Return texts that are quantities, nearly always."""
    digits = st.text("0123456789", min_size=1, max_size=22)
    number = st.builds("{}{}".format, digits, st.just("") | digits.map(".{}".format))
    powers = st.builds("{}{}".format, st.sampled_from("eE"), st.integers(-30, 30))
    suffix = st.sampled_from(("", *"numkMGTPE", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")) | powers
    whole = st.builds("{}{}{}".format, st.sampled_from(("", "-", "+")), number, suffix)
    return st.one_of(whole, whole, whole, st.text("0123456789.+-eEKMGimku", max_size=8))


def versions() -> st.SearchStrategy[str]:
    """Return texts that are semantic versions, nearly always."""
    number = st.integers(0, 20).map(str) | st.integers(0, 2**65).map(str) | st.sampled_from(("01", "v1", ""))
    usual = st.integers(0, 20).map(str)
    core = st.tuples(st.one_of(usual, usual, usual, number), usual, usual).map(".".join)
    word = st.text("0123456789abzAZ-", min_size=1, max_size=4)
    words = st.lists(word, max_size=3).map(".".join)
    return st.builds(
        lambda core, before, build: core + (f"-{before}" if before else "") + (f"+{build}" if build else ""),
        core,
        words,
        words,
    )


def _mix(draw: Chooser, *, valid: bool) -> Mix:
    mix = Mix.drawn(draw)
    return mix.without(SPOILING, 0.0) if valid else mix
