"""What is remembered is bounded: a cache without a bound, or a new map in what lives long, is noticed here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dra_alloc.remembered import Numbers, Remembered, of_objects, of_short_texts
from tests.architecture.source_files import nodes, package_files
from tests.paths import ROOT
from tests.threads import at_once

#: Functions whose answers are kept for ever: there are only so many arguments, all of them from this package.
KEPT = {
    "api._base._build_serializers": "no arguments",
    "api._base._defaults": "models",
    "api._base._wire_fields": "models",
    "cel.environments.declarations": "what releases, modes and gates make of selectors: a few dozen",
    "linting.pages._sections": "families of rules",
    "linting.pages._text": "families of rules",
    "manifest.convert.conversion._flat_members": "no arguments",
    "manifest.convert.conversion.reshape": "models by version",
    "manifest.convert.conversion.without_later": "models by version",
    "manifest.make.field_releases.known_in": "models by release, none newer than the newest known",
    "manifest.make.inspection._crowding": "models",
    "manifest.make.records._decoder": "no arguments",
    "manifest.make.records.record_of": "models",
    "manifest.make.schema.schema_of": "models",
    "manifest.snapshot.late_slices._lists_decoder": "no arguments",
    "manifest.snapshot.late_slices._slice_record": "no arguments",
    "manifest.snapshot.late_slices.slices_decoder": "no arguments",
    "report.page._template": "no arguments",
    "report.page._text": "files of the page",
    "scenario.fleet.catalogue.catalogue": "no arguments",
    "releases.start_of": "starts that the tables name",
    "traits.traits_of": "releases, none newer than the newest known, by channel",
}
#: Calls of `cache` on what is made for one question, and goes with it.
FOR_ONE_QUESTION = {"explain.tally": 1, "scenario.prepare.references": 2}
#: What lives as long as a cluster or the process, and what bounds each map in it.
BOUNDED = {
    "cel.columns.Interner": {"_answers": "programs that are alive", "id": "Numbers"},
    "cel.engine.Environment": {"_programs": "Remembered, by length"},
    "cel.environments.Declarations": {
        "answers": "overloads that go together: as many as are declared",
        "matches": "_MOST_REMEMBERED of the checker",
    },
    "problem.gathering.Gathering": {
        "_local": "Findings",
        "_shared": "subsets of the places of slices that nodes can be in",
    },
    "problem.overlay.Findings": {"_common": "_MOST_FINDINGS", "_own": "_MOST_CHANGES"},
    "solve.allocator.Allocator": {"_availability": "pools that are there"},
    "solve.columns.Columns": {
        "_columns": "_MOST_LENSES",
        "_lenses": "_MOST_LENSES",
        "_readable": "Remembered",
        "_versions": "_MOST_READABLE",
        "id": "Numbers",
    },
    "solve.columns._Glance": {
        "_getters": "drivers that are there",
        "_takers": "sets of attributes, by driver",
        "known": "_MOST_LOOKS",
    },
    "solve.frames.Frames": {"_numbers": "Numbers", "_seen": "128 widths by _COMPARED"},
    "solve.masks.board.Board": {"answers": "_MOST_ANSWERS, and the weight of the plan"},
    "solve.masks.plan.Plan": {
        "boards": "the weight of the plan",
        "parts": "_MOST_PARTS, and the weight of the plan",
        "signatures": "pools that are alive",
    },
    "solve.masks.shares.Shares": {
        "_chosen": "Remembered, by devices",
        "_judges": "Remembered",
        "_number": "Numbers",
        "_shares": "Remembered",
    },
    "solve.selection.Selection": {"_derived": "Remembered", "_matchers": "Remembered", "_programs": "Remembered"},
    "solve.selection._Matcher": {"_drivers": "drivers that are there"},
    "solve.survey.Survey": {
        "_admitted": "Remembered",
        "_alike": "Remembered",
        "_plans": "_MOST_BYTES",
        "_pools": "_MOST_NODES",
        "_views": "Findings",
        "paths": "_MOST_PATHS of the direct engine",
    },
    "solve.views.Admitted": {"forms": "_MOST_FORMS"},
    "cluster.standings.Roster": {"places": "nodes"},
    "cluster.standings.Standings": {
        "_codes": "_MOST_QUESTIONS",
        "_errors": "_MOST_ERRORS",
        "_plain": "nodes by code",
        "_touched": "nodes",
    },
}
_CONTAINERS = {"Findings", "Numbers", "OrderedDict", "Remembered", "WeakKeyDictionary", "dict", "list", "set"}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT / "dra_alloc").with_suffix("").parts).removesuffix(".__init__")


def decorated() -> Iterator[tuple[str, str]]:
    """Each function with a decorator that keeps its answers, and the decorator."""
    for path in package_files():
        for each in nodes(path):
            if not isinstance(each, ast.FunctionDef):
                continue
            for decorator in each.decorator_list:
                text = ast.unparse(decorator).removeprefix("functools.")
                if text.startswith(("cache", "lru_cache")) and text != "cached_property":
                    yield f"{module_of(path)}.{each.name}", text


def made(value: ast.expr | None) -> bool:
    """Whether an expression makes something that can grow."""
    if isinstance(value, ast.Attribute):  # the method of one that was made for it
        value = value.value
    if isinstance(value, ast.Call):
        name = ast.unparse(value.func).partition("[")[0]
        return name in _CONTAINERS or "default_factory" in {each.arg for each in value.keywords}
    return isinstance(value, ast.Dict | ast.Set | ast.List) and not ast.unparse(value).strip("{}[]")


def growing(node: ast.ClassDef) -> set[str]:
    """The attributes of a class that begin empty: fields, and what its methods set."""
    found = set()
    for each in ast.walk(node):
        if not isinstance(each, ast.Assign | ast.AnnAssign):
            continue
        targets = each.targets if isinstance(each, ast.Assign) else [each.target]
        pairs = [(target, each.value) for target in targets]
        if len(targets) == 1 and isinstance(targets[0], ast.Tuple) and isinstance(each.value, ast.Tuple):
            pairs = list(zip(targets[0].elts, each.value.elts, strict=True))
        for target, value in pairs:
            if not made(value):
                continue
            if isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self":
                found.add(target.attr)
            elif isinstance(target, ast.Name) and each in node.body:
                found.add(target.id)
    return found


def test_what_is_kept_for_ever_has_few_arguments():
    assert {name for name, text in decorated() if text == "cache"} == set(KEPT)


def test_all_else_has_a_bound():
    unbounded = [name for name, text in decorated() if text.startswith("lru_cache(") and "None" in text]
    assert not unbounded


def test_what_is_cached_by_a_call_is_for_one_question():
    found = {}
    for path in package_files():
        calls = [each for each in nodes(path) if isinstance(each, ast.Call)]
        count = sum(ast.unparse(each.func) in ("cache", "functools.cache") for each in calls)
        if count:
            found[module_of(path)] = count
    assert found == FOR_ONE_QUESTION


@pytest.mark.parametrize("name", BOUNDED)
def test_every_map_of_what_lives_long_has_a_bound(name):
    module, _, wanted = name.rpartition(".")
    inside = nodes(ROOT / "dra_alloc" / f"{module.replace('.', '/')}.py")
    node = next(each for each in inside if isinstance(each, ast.ClassDef) and each.name == wanted)
    assert growing(node) == set(BOUNDED[name])


def test_the_oldest_are_forgotten_first():
    known: Remembered[int, str] = Remembered(3)
    for number in range(5):
        assert known.put(number, str(number)) == str(number)
    assert list(known) == [2, 3, 4]
    assert known.get(0) is None
    assert known.put(4, "other") == "4"


def test_weights_count():
    known: Remembered[str, int] = Remembered(10)
    known.put("a", 1, 6)
    known.put("b", 2, 5)
    assert list(known) == ["b"]
    known.put("c", 3, 100)
    assert list(known) == ["c"]
    known.put("d", 4, 1)
    assert list(known) == ["d"]
    known.clear()
    assert list(known) == []
    assert known.put("a", 5, 10) == 5


def test_many_at_once_are_weighed_and_forgotten_like_others():
    known: Remembered[str, int] = Remembered(4)
    known.put("heavy", 0, 2)
    known.put("b", 1)
    known.put_all({"b": 1, "c": 2})
    assert list(known) == ["heavy", "b", "c"]
    known.put_all({"d": 3})
    assert list(known) == ["b", "c", "d"]
    known.put_all({str(number): number for number in range(5)})
    assert list(known) == ["1", "2", "3", "4"]


def test_no_number_is_given_twice():
    numbers = Numbers(2)
    assert [numbers.of(each) for each in "abacab"] == [0, 1, 0, 2, 3, 4]
    assert len(numbers) == 2


def test_long_texts_are_not_remembered():
    asked = []

    @of_short_texts(8)
    def length(text: str, *, less: int = 0) -> int:
        asked.append(text)
        return len(text) - less

    assert [length("ab"), length("ab"), length("ab", less=1)] == [2, 2, 1]
    assert [length("x" * 10_000), length("x" * 10_000)] == [10_000] * 2
    assert len(asked) == 4


def test_objects_are_remembered_while_they_are_there():
    asked = []

    class Item:
        def __init__(self, number: int) -> None:
            self.number = number

    @of_objects
    def number_of(item: Item) -> int:
        asked.append(item.number)
        return item.number

    one = Item(1)
    assert [number_of(one), number_of(one), number_of(Item(2))] == [1, 1, 2]
    # Objects that come by the place of one that is gone are others.
    assert [number_of(Item(number)) for number in range(100)] == list(range(100))
    assert asked == [1, 2, *range(100)]
    (known,) = (each.cell_contents for each in number_of.__closure__ or () if isinstance(each.cell_contents, dict))
    assert list(known) == [id(one)]


def test_threads_get_the_same():
    known: Remembered[int, object] = Remembered(1 << 20)
    numbers = Numbers(1 << 20)

    def ask() -> list[tuple[int, int]]:
        return [(id(known.put(each, object())), numbers.of(each)) for each in range(500)]

    first, *others = at_once([ask] * 8)
    assert all(each == first for each in others)
    assert sorted(number for _, number in first) == list(range(500))
