"""The engines behind one protocol: chosen by name, errors of our types, nothing left behind in the host."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from dra_alloc import cel
from dra_alloc.cel import engines
from dra_alloc.errors import InputError
from tests.threads import in_threads
from tests.unit.cel.devices import device

DEVICE = {
    "attributes": {
        "model": {"string": "H100"},
        "index": {"int": 3},
        "healthy": {"bool": True},
        "firmware": {"version": "1.2.3"},
        "numa": {"ints": [0, 1]},
        "x.io/model": {"string": "other"},
    },
    "capacity": {"memory": "80Gi"},
    "multi": True,
}


def _said(expression: str, engine: str = "cel-python", release: str = "1.37") -> bool | str:
    try:
        return cel.compile(expression, release, engine=engine).matches(device(DEVICE, lists=True))
    except (cel.CompileError, cel.EvaluationError) as error:
        return f"{type(error).__name__}: {error.text}"


def test_native_is_the_default() -> None:
    assert cel.compile("true", engine="native") is cel.compile("true")
    assert isinstance(cel.compile("true"), cel.Program)
    assert next(iter(cel.ENGINES)) == cel.NATIVE == "native"


def test_an_unknown_engine_is_named_with_those_there_are() -> None:
    with pytest.raises(InputError, match=r"unknown CEL engine 'rust' \(native or cel-python\)"):
        cel.compile("true", engine="rust")


def test_a_missing_engine_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['celpy'] = None\n"
        "from dra_alloc import cel\n"
        "from dra_alloc.errors import EngineUnavailable\n"
        "try: cel.compile('true', engine='cel-python')\n"
        "except EngineUnavailable as error: print(error)\n"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.startswith("the CEL engine cel-python cannot be loaded")
    assert 'pip install "dra-alloc[cel-python]"' in said


def test_a_further_engine_is_one_more_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Other:
        lists = False

        def compile(self, expression: str) -> cel.Selector:
            asked.append(expression)
            return cel.environment().compile("false")

    monkeypatch.setattr(engines, "ENGINES", {**engines.ENGINES, "other": lambda environment: Other()})
    assert cel.compile("true", engine="other").matches(device({})) is False
    assert asked == ["true"]


def test_the_engine_is_not_loaded_before_it_is_asked() -> None:
    program = "import sys; from dra_alloc import cel; cel.compile('true'); print('celpy' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said == "False\n"


@pytest.mark.usefixtures("cel_python")
@pytest.mark.parametrize(
    "expression",
    [
        'device.driver == "d"',
        "device.allowMultipleAllocations",
        'device.attributes["d"].model == "H100"',
        'device.attributes["d"].model.startsWith("H") && device.attributes["d"].index < 4',
        "device.attributes.d.healthy",
        'device.attributes["x.io"].model == "other"',
        'device.attributes["d"].firmware == semver("1.2.3+build")',
        'device.attributes["d"].firmware.isGreaterThan(semver("1.0.0"))',
        'device.attributes["d"].firmware.compareTo(semver("v2", true)) == -1',
        'device.attributes["d"].firmware.major() == 1 && device.attributes["d"].firmware.patch() == 3',
        'isSemver("1.0.0") && !isSemver("1")',
        'device.capacity["d"].memory == quantity("81920Mi")',
        'device.capacity["d"].memory.compareTo(quantity("80Gi")) == 0',
        'device.capacity["d"].memory.sub(quantity("1Gi")).isLessThan(quantity("80Gi"))',
        'device.capacity["d"].memory.add(1).asInteger() == 85899345921',
        'isQuantity("1Gi") && !isQuantity("x") && sign(quantity("-1")) == -1',
        'device.attributes["d"].numa.includes(1) && !device.attributes["d"].numa.includes(7)',
        '1 in device.attributes["d"].numa',
        'device.attributes["d"].model.includes("H100")',
        '!has(device.attributes["nowhere"].model) && has(device.attributes["d"].model)',
        'device.attributes["d"].missing == 1 || true',
        'device.attributes["d"].model in ["A100", "H100"]',
        'device.attributes["d"].numa.exists(each, each == 1)',
        'device.attributes["d"].model.matches("^H[0-9]+$")',
        '!("nowhere" in device.attributes)',
    ],
)
def test_both_engines_say_the_same(expression: str) -> None:
    assert _said(expression, "native") is True
    assert _said(expression) is True


@pytest.mark.usefixtures("cel_python")
@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('device.attributes["d"].?x.orValue(1) == 1', "CompileError: syntax error at 1:24"),
        ("1 +", "CompileError: syntax error at"),
        ("", "CompileError: syntax error at"),
        ('"' + "a" * 200_000 + '"', "CompileError: more than 100000 characters"),
        ('device.attributes["d"].missing == 1', "EvaluationError: no such member in mapping: 'missing'"),
        ('quantity("x") == quantity("1")', "EvaluationError: quantities must match the regular expression"),
        ('device.attributes["d"].firmware == "1.2.3"', "no such overload"),
        (
            'device.attributes["d"].index.isGreaterThan(quantity("1"))',
            "no such overload: isGreaterThan(int, kubernetes.",
        ),
        ("foo(1)", "EvaluationError: undeclared reference to 'foo'"),
        ("1", "EvaluationError: the result is of type IntType, not a bool"),
        ("(" * 400 + "true" + ")" * 400, "EvaluationError: the expression is nested too deeply"),
        ("1" + "+1" * 3000 + " > 0", "Error: the expression is nested too deeply"),
    ],
)
def test_its_failures_are_errors_of_ours(expression: str, expected: str) -> None:
    found = _said(expression)
    assert isinstance(found, str)
    assert expected in found
    assert "<class" not in found
    assert "activation" not in found


@pytest.mark.usefixtures("cel_python")
def test_a_broken_device_fails_every_selector() -> None:
    broken = device({"attributes": {"v": {"version": "x"}}})
    with pytest.raises(cel.EvaluationError, match="attribute v: parse semantic version"):
        cel.compile("true", engine="cel-python").matches(broken)


@pytest.mark.usefixtures("cel_python")
def test_it_has_no_cost_and_reads_everything() -> None:
    selector = cel.compile("true", engine="cel-python")
    assert selector.max_cost is None
    assert selector.cost(device({})) is None
    assert selector.reads == (cel.Read("device"),)
    assert str(selector.output_type) == "dyn"


@pytest.mark.usefixtures("cel_python")
def test_includes_comes_with_its_release() -> None:
    expression = 'device.attributes["d"].model.includes("H100")'
    assert _said(expression, release="1.36") is True
    assert "undeclared reference to 'includes'" in str(_said(expression, release="1.35"))


@pytest.mark.usefixtures("cel_python")
@pytest.mark.parametrize("expression", ["__class__", "clone", "identifiers", "device.__class__", "device.keys", "self"])
def test_its_insides_cannot_be_named(expression: str) -> None:
    assert str(_said(expression)).startswith("EvaluationError: ")
    assert "object at 0x" not in str(_said(expression))


@pytest.mark.usefixtures("cel_python")
def test_an_evaluation_ends() -> None:
    nested = "".join(f"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(x{n}, " for n in range(8)) + "true" + ")" * 8
    started = time.monotonic()
    assert _said(nested) == "EvaluationError: stopped after 50,000 steps"
    assert time.monotonic() - started < 60


@pytest.mark.usefixtures("cel_python")
@pytest.mark.parametrize(
    "expression",
    [
        f"[{', '.join('1' * 60)}].all(x, x == 'a')",
        f"[{', '.join('1' * 60)}].exists(x, foo(x))",
        " && ".join(["foo(1)"] * 60),
        " || ".join(["1"] * 60),
    ],
)
def test_errors_do_not_pile_up(expression: str) -> None:
    started = time.monotonic()
    found = _said(expression)
    assert isinstance(found, str)
    assert len(found) < 2_000
    assert time.monotonic() - started < 30


@pytest.mark.usefixtures("cel_python")
def test_the_host_is_left_as_it_was() -> None:
    """In a process of its own: what is loaded here first would hide it."""
    program = (
        "import sys, celpy; from celpy.celparser import CELParser\n"
        "sys.setrecursionlimit(1234)\n"
        "from dra_alloc import cel\n"
        "cel.compile('1 == 1', engine='cel-python').matches(cel.prepare_device('d', {}, {}, None, lists=False))\n"
        "print(sys.getrecursionlimit(), CELParser.CEL_PARSER)\n"
        "theirs = celpy.Environment(runner_class=celpy.CompiledRunner)\n"
        "print(theirs.program(theirs.compile('1 + 1 == 2')).evaluate({}))\n"
        "cel.compile('2 == 2', engine='cel-python').matches(cel.prepare_device('d', {}, {}, None, lists=False))\n"
        "print(theirs.program(theirs.compile('1 + 2 == 3')).evaluate({}))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1234", "None", "True", "True"]


@pytest.mark.usefixtures("cel_python")
def test_threads_share_a_selector() -> None:
    selector = cel.compile('device.attributes["d"].index == 1 && device.driver == "d"', engine="cel-python")
    devices = [device({"attributes": {"index": {"int": number % 2}}}) for number in range(4)]
    wanted = [bool(number % 2) for number in range(4)]
    wrong: list[object] = []

    def ask() -> None:
        for number in range(15):
            cel.compile(f"{number} == {number}", engine="cel-python")
            found = [selector.matches(each) for each in devices]
            if found != wanted:
                wrong.append(found)

    in_threads(ask)
    assert wrong == []
