"""
The shape of a vector file: one case, the statements it shows, and what the answer has to be.

The folder below `spec/vectors` says which kind of case a file holds. The JSON schema of these models is made by
`spec.schema`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from dra_alloc.api import DeviceClass, DeviceTaintRule, Node, ResourceClaim, ResourceSlice
from dra_alloc.profiles import Channel, Feature, Trait
from dra_alloc.releases import parse_release

HERE: Final = Path(__file__).resolve().parent
VECTORS: Final = HERE / "vectors"
RULES: Final = HERE / "rules"

#: Allocators that keep no count of their steps.
UNCOUNTED: Final = frozenset({("1.34.13", "stable"), ("1.35.10", "stable")})

Json = dict[str, Any]
Statement = Annotated[str, Field(pattern=r"^[A-Z]+-[0-9]+$")]
Names3 = Annotated[tuple[str, ...], Field(min_length=3, max_length=3)]
Names4 = Annotated[tuple[str, ...], Field(min_length=4, max_length=4)]
_STATEMENT: Final = re.compile(
    r"^(?:- )?\*\*([A-Z]+-\d+)\*\*(.*?)(?=^(?:- )?\*\*[A-Z]|^#|\Z)", re.MULTILINE | re.DOTALL
)
_OBJECTS: Final[Mapping[str, type[Any]]] = {
    "claims": ResourceClaim,
    "classes": DeviceClass,
    "slices": ResourceSlice,
    "taint_rules": DeviceTaintRule,
}


class VectorError(ValueError):
    """A file below `spec/vectors` is not a vector; the text names the file, the place in it, and what is wrong."""


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
    )


class Case(_Strict):
    """What every vector has: the statements it shows, and where its expected values come from."""

    statements: tuple[Statement, ...] = ()
    source: str


class Consumed(_Strict):
    """Capacity of a shared device that existing allocations consume."""

    id: Names3
    cap: dict[str, str]


class Given(_Strict):
    """
    A question to the allocator: one call for one node, in the shape of the harness protocol.

    `features` are those that are on. What the objects hold is checked against
    the API.
    """

    features: tuple[str, ...] = ()
    node: Json | None = None
    claims: tuple[Json, ...] = ()
    classes: tuple[Json, ...] = ()
    slices: tuple[Json, ...] = ()
    taint_rules: tuple[Json, ...] = ()
    allocated: tuple[Names3, ...] = ()
    allocated_shared: tuple[Names4, ...] = ()
    aggregated: tuple[Consumed, ...] = ()

    @model_validator(mode="after")
    def _is_known_to_the_api(self) -> Given:
        for name in self.features:
            Feature(name)
        if self.node is not None:
            Node.model_validate(self.node)
        for name, model in _OBJECTS.items():
            for number, wire in enumerate(getattr(self, name)):
                try:
                    model.model_validate(wire)
                except ValidationError as error:
                    first = error.errors()[0]
                    path = ".".join(map(str, first["loc"]))
                    raise ValueError(f"{name}[{number}].{path}: {first['msg']}") from None
        return self


class Answer(_Strict):
    """
    One answer: `results` (one for each claim; share IDs are `*`), or it cannot, or an error, or upstream panics.

    `on_node` says that the error concerns this node only. `steps` are those of
    the plain search.
    """

    results: tuple[Json, ...] | None = None
    cannot: Literal[True] | None = None
    error: str | None = None
    on_node: Literal[True] | None = None
    panics: str | None = None
    undecided: Literal[True] | None = None
    steps: int | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _is_one_thing(self) -> Answer:
        kinds = (self.results, self.cannot, self.error, self.panics, self.undecided)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("an answer is exactly one of results, cannot, error, panics, undecided")
        return self


class Recorded(_Strict):
    """
    What upstream answers at some releases and channels, found by running it.

    Several answers: upstream gives one or another of them, from run to run.
    The steps are not those of `UNCOUNTED` allocators.
    """

    at: dict[str, tuple[Channel, ...]] = Field(min_length=1, strict=False)
    answers: tuple[Answer, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _releases_are_known(self) -> Recorded:
        for release in self.at:
            parse_release(release)
        return self


class Intended(_Strict):
    """
    What the API promises, written by hand: who gets which devices, or that it cannot, or the error.

    `picks` maps `claim/request` to `driver/pool/device`, in order.
    """

    picks: dict[str, tuple[str, ...]] | None = None
    cannot: Literal[True] | None = None
    error: str | None = None
    why: str | None = None

    @model_validator(mode="after")
    def _is_one_thing(self) -> Intended:
        if sum(kind is not None for kind in (self.picks, self.cannot, self.error)) != 1:
            raise ValueError("what is intended is exactly one of picks, cannot, error")
        return self


class AllocationExpected(_Strict):
    """Both values of a case; without `intended` the semantics make no difference."""

    upstream: tuple[Recorded, ...]
    intended: Intended | None = None


class AllocationCase(Case):
    """A call of the allocator. `traits` are what the answers hang on; without its defects it is as intended."""

    statements: tuple[Statement, ...] = Field(min_length=1)
    shows: str
    traits: tuple[str, ...] = ()
    given: Given
    expected: AllocationExpected

    @model_validator(mode="after")
    def _traits_are_known(self) -> AllocationCase:
        for name in self.traits:
            Trait(name)
        return self


class _CelDevice(_Strict):
    driver: str
    attributes: dict[str, Json] | None = None
    capacity: dict[str, str | int] | None = None
    multi: bool | None = None


class _CelGiven(_Strict):
    expression: str
    release: str
    mode: Literal["stored", "new"]
    lists: bool
    device: _CelDevice


class _CelExpected(_Strict):
    compile_error: str | None = None
    type: str | None = None
    max_cost: int | None = None
    cost: int | None = None
    match: bool | None = None
    error: str | None = None


class CelCase(Case):
    """A selector on one device."""

    given: _CelGiven
    expected: _CelExpected


class _Document(_Strict):
    document: str
    to: str | None = None


class _DocumentExpected(_Strict):
    v1: Json | None = None
    converted: Json | None = None
    refused: str | None = None


class DocumentCase(Case):
    """A document, and the v1 object it becomes, with its defaults, or without them that of the version it goes to."""

    given: _Document
    expected: _DocumentExpected


class QuantityCase(Case):
    """A quantity, or two and what they add up to."""

    given: Json
    expected: Json


class SemverCase(Case):
    """A version, or two and how they compare."""

    given: Json
    expected: Json


class _Object(_Strict):
    object: Json


class _Fault(_Strict):
    field: str
    text: str
    type: str | None = None


class _Faults(_Strict):
    errors: tuple[_Fault, ...]


class ValidationCase(Case):
    """An object, and what the API server says against it."""

    given: _Object
    expected: _Faults


class _Text(_Strict):
    text: str


class _TextExpected(_Strict):
    # A value of JSON as text, since its numbers must not be read.
    json_: str | None = Field(default=None, alias="json")
    refused: bool | None = None


class TextCase(Case):
    """A YAML text, and the JSON it stands for."""

    given: _Text
    expected: _TextExpected


class _Rule(_Strict):
    rule: str
    in_: Json = Field(alias="in")


class RuleCase(Case):
    """One rule of quota, queues or naming, asked alone: what the harness's op `rule` answers. Written by hand."""

    statements: tuple[Statement, ...] = Field(min_length=1)
    shows: str
    given: _Rule
    expected: Json


#: Folder below `spec/vectors` -> what its files hold.
KINDS: Final[Mapping[str, type[Case]]] = {
    "allocation": AllocationCase,
    "cel": CelCase,
    "conversion": DocumentCase,
    "defaults": DocumentCase,
    "quantity": QuantityCase,
    "rule": RuleCase,
    "semver": SemverCase,
    "validation": ValidationCase,
    "yaml": TextCase,
}


def yaml_of(path: Path) -> Any:
    """
    Return what a YAML file holds, read by the fast parser where it is there.

    Raises: yaml.YAMLError.
    """
    return yaml.load(path.read_text(encoding="utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def load_case(path: Path) -> Case:
    """
    Return the case of a vector file.

    Raises: VectorError, with the file and the place in it.
    """
    folder = path.relative_to(VECTORS).parts[0] if path.is_relative_to(VECTORS) else ""
    kind = KINDS.get(folder)
    if kind is None:
        raise VectorError(f"{path}: vectors are below spec/vectors in one of: {', '.join(KINDS)}")
    try:
        raw = yaml_of(path)
        # By way of JSON, since strictness there still takes a list for a tuple.
        return kind.model_validate_json(json.dumps(raw))
    except yaml.YAMLError as error:
        raise VectorError(f"{path.name}: {error}") from None
    except ValidationError as error:
        texts = (f"  {'.'.join(map(str, each['loc'])) or 'the file'}: {each['msg']}" for each in error.errors())
        raise VectorError("\n".join([f"{folder}/{path.name}:", *texts])) from None
    except TypeError as error:  # a YAML value that JSON has not, such as a date
        raise VectorError(f"{folder}/{path.name}: {error}; quote it") from None


def cases(kind: str) -> Iterator[tuple[Path, Case]]:
    """Return the vectors of a kind with their files, by name."""
    yield from _cases(VECTORS / kind)


@cache
def _cases(folder: Path) -> tuple[tuple[Path, Case], ...]:
    return tuple((path, load_case(path)) for path in sorted(folder.rglob("*.yaml")))


def stated(pages: str = "*") -> dict[str, str]:
    """Return the text of every statement of the rules, by its ID."""
    found: dict[str, str] = {}
    for page in sorted(RULES.glob(f"{pages}.md")):
        text = page.read_text(encoding="utf-8")
        for name, body in _STATEMENT.findall(text):
            found[name] = " ".join(body.split())
    return found
