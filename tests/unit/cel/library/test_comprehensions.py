# ruff: noqa: E501 - a row is a line, and texts are as upstream has them
"""
Two-variable comprehensions. Spec: CEL-57

Each row is an expression, what upstream 1.36.2 makes of it, its estimate and its counted cost.
"""

from __future__ import annotations

import pytest

from tests.unit.cel.evaluator import answer, shown

ROWS: tuple[tuple[str, str, int | None, int | None], ...] = (
    ("[1,2].all(i,v,i<v)", "true", 23, 13),
    ('{"a":1}.all(k,v,k=="a" && v==1)', "true", 38, 8),
    ("[1,2].exists(i,v,v==2)", "true", 23, 13),
    ("[1,2].existsOne(i,v,v==2)", "true", 20, 8),
    ("[1,2].exists_one(i,v,v==2)", "true", 20, 8),
    ("[1,2].transformList(i,v,i*v)", "[0, 2]", 51, 31),
    ("[1,2].transformList(i,v,v>1,i*v)", "[2]", 55, 20),
    ('{"a":1,"b":2}.transformList(k,v,v).sort()', "[1, 2]", 86, 46),
    ("[1,2].transformMap(i,v,v*2)", "{0: 2, 1: 4}", 51, 11),
    ("[1,2].transformMap(i,v,v>1,v*2)", "{1: 4}", 55, 10),
    ('{"a":1,"b":2}.transformMap(k,v,v+1)', '{"a": 2, "b": 3}', 71, 11),
    ("[1,2].transformMapEntry(i,v,{v:i})", "{1: 0, 2: 1}", 109, 69),
    ("[1,1].transformMapEntry(i,v,{v:i})", "! insert failed: key 1 already exists", 109, 69),
    ("[1,2].transformMapEntry(i,v,v>1,{v:i})", "{2: 1}", 113, 39),
    ('[1,2].transformMapEntry(i,v,{v:i, "x"+string(v):2})', "? ERROR: <input>:1:38: expected type 'int' but found 'string'", None, None),
    ("[1,2].transformMapEntry(i,v,{})", "{}", 105, 5),
    ("[1,2].transformMapEntry(i,v,v)", "? ERROR: <input>:1:24: found no matching overload for 'cel.@mapInsert' applied to '(map(dyn, dyn), int)'", None, None),
    ("[1,2].transformMapEntry(i,v,dyn(v))", "! no such overload: cel.@mapInsert(map, int)", 49, 9),
    ("[1,2].transformMapEntry(i,v,dyn({dyn(v):dyn(i)}))", "{1: 0, 2: 1}", 115, 75),
    ("[1,2].transformMapEntry(i,v,{dyn(1.0):i})", "! insert failed: key 1 already exists", 109, 67),
    ("[1,2].transformMapEntry(i,v,{v == 1 ? dyn(1) : dyn(1u):i})", "! insert failed: key 1 already exists", 113, 71),
    ("[1,2].transformMapEntry(i,v,v == 1 ? {dyn(1):i} : {dyn(1.0):i})", "! insert failed: key 1 already exists", 113, 71),
    ("[1,2].transformMapEntry(i,v,{1/0:i})", "! division by zero", 109, 67),
    ("[1,2].transformMap(i,v,1/0)", "! division by zero", 49, 6),
    ("[1,2].transformMap(i,v,1/0 == 1,v)", "! division by zero", 53, 5),
    ("[1,2].transformMap(i,v,v,v)", "? ERROR: <input>:1:19: found no matching overload for '_?_:_' applied to '(int, map(int, int), map(int, int))'", None, None),
    ("[1,2].transformMap(i,v,dyn(v),v)", "! no such overload", 53, 5),
    ("[1,2].transformList(i,v,dyn(v),v)", "! no such overload", 51, 5),
    ("[1,2].transformList(i,v,1/(v-1))", "! division by zero", 51, 31),
    ("[1,2].transformList(i,v,1/(v-1) == 1,v)", "! division by zero", 55, 22),
    ("[1,2].existsOne(i,v,dyn(v))", "! no such overload", 20, 6),
    ("[1,2].existsOne(i,v,1/(v-1) == 1)", "! division by zero", 24, 12),
    ("[1,2].all(i,v,1/(v-1) == 2)", "false", 25, 15),
    ("[1,2].exists(i,v,1/(v-1) == 1)", "true", 27, 17),
    ("[1,2].exists(i,v,1/(v-1) == 5)", "! division by zero", 27, 17),
    ("[1,2].all(i,i,true)", "? ERROR: <input>:1:13: duplicate variable name: i", None, None),
    ("[1,2].all(i.a,v,true)", "? ERROR: <input>:1:12: argument must be a simple name", None, None),
    ("[1,2].all(i,v.a,true)", "? ERROR: <input>:1:14: argument must be a simple name", None, None),
    ("[1,2].all(1,v,true)", "? ERROR: <input>:1:11: argument must be a simple name", None, None),
    ('[1,2].exists(i,"v",true)', "? ERROR: <input>:1:16: argument must be a simple name", None, None),
    ('[1,2].existsOne(i,"v",true)', "? ERROR: <input>:1:19: argument must be a simple name", None, None),
    ("[1,2].exists_one(i,i,true)", "? ERROR: <input>:1:20: duplicate variable name: i", None, None),
    ('[1,2].transformList(i,"v",true)', "? ERROR: <input>:1:23: argument must be a simple name", None, None),
    ("[1,2].transformList(i,i,true)", "? ERROR: <input>:1:23: duplicate variable name: i", None, None),
    ("[1,2].transformList(i.b,i,true)", "? ERROR: <input>:1:22: argument must be a simple name", None, None),
    ('[1,2].transformMap(i,"v",true)', "? ERROR: <input>:1:22: argument must be a simple name", None, None),
    ("[1,2].transformMap(i,i,true)", "? ERROR: <input>:1:22: duplicate variable name: i", None, None),
    ('[1,2].transformMapEntry(i,"v",{})', "? ERROR: <input>:1:27: argument must be a simple name", None, None),
    ("[1,2].transformMapEntry(i,i,{})", "? ERROR: <input>:1:27: duplicate variable name: i", None, None),
    ("[1,2].all(__result__,v,true)", "? ERROR: <input>:1:11: iteration variable overwrites accumulator variable", None, None),
    ("[1,2].all(i,__result__,true)", "? ERROR: <input>:1:13: iteration variable overwrites accumulator variable", None, None),
    ("[1,2].transformList(__result__,v,true)", "? ERROR: <input>:1:21: iteration variable overwrites accumulator variable", None, None),
    ("[1,2].transformMap(i,__result__,true)", "? ERROR: <input>:1:22: iteration variable overwrites accumulator variable", None, None),
    ("[1,2].transformMapEntry(i,__result__,{})", "? ERROR: <input>:1:27: iteration variable overwrites accumulator variable", None, None),
    ("dyn(1).all(i,v,true)", "! unsupported comprehension range type: types.Int", 5, 0),
    ('dyn("a").transformList(i,v,v)', "! unsupported comprehension range type: types.String", 25, 0),
    ("dyn(1).transformMap(i,v,v)", "! unsupported comprehension range type: types.Int", 36, 0),
    ("[].transformMap(i,v,v)", "{}", 41, 1),
    ("[].transformMapEntry(i,v,{i:v})", "{}", 41, 1),
    ("[[1,2],[3]].transformList(i,v,v.transformList(j,w,w*i))", "[[0, 0], [3]]", 149, 74),
    ("[1].transformMap(i,v,v).transformMap(k,v,v)", "{0: 1}", 80, 10),
    ('["a"].transformMap(i,v,v) == {0:"a"}', "true", 76, 6),
    ('{"a":1}.transformMapEntry(k,v,{v:k})', '{1: "a"}', 95, 35),
    ('[quantity("1")].transformMapEntry(i,v,{v:i})', "{1: 0}", 76, 46),
    ('[quantity("1"),quantity("1")].transformMapEntry(i,v,{v:i})', "{1: 0, 1: 1}", 111, 81),
    ("[[1],[1]].transformMapEntry(i,v,{v:i})", "{[1]: 0, [1]: 1}", 129, 69),
    ("[null,null].transformMapEntry(i,v,{v:i})", "! insert failed: key 0 already exists", 109, 69),
    ("[timestamp(1),timestamp(1)].transformMapEntry(i,v,{v:i})", "! insert failed: key 1970-01-01 00:00:01 +0000 UTC already exists", 111, 69),
    ("[1.5,1.5].transformMapEntry(i,v,{v:i})", "! insert failed: key 1.5 already exists", 109, 69),
    ('["a","a"].transformMapEntry(i,v,{v:i})', "! insert failed: key a already exists", 109, 69),
    ("[true,true].transformMapEntry(i,v,{v:i})", "! insert failed: key true already exists", 109, 69),
    ("[1u,1u].transformMapEntry(i,v,{v:i})", "! insert failed: key 1 already exists", 109, 69),
    ('[duration("1s"),duration("1s")].transformMapEntry(i,v,{v:i})', "! insert failed: key 1s already exists", 111, 69),
    ("[optional.of(1)].transformMapEntry(i,v,{v:i})", "{some(1): 0}", 76, 46),
    ('{"a":"bbbbbbbbbbbbbbbbbbbbbbbb"}.transformMap(k,v,v)["a"] + "aaa"', '"bbbbbbbbbbbbbbbbbbbbbbbbaaa"', 1844674407370955330, 10),
    ('{"a":"bbbbbbbbbbbbbbbbbbbbbbbb"}.transformMapEntry(k,v,{k:v})["a"] + "aaa"', '"bbbbbbbbbbbbbbbbbbbbbbbbaaa"', 1844674407370955360, 40),
    ('["bbbbbbbbbbbbbbbbbbbbbbbb"].transformList(k,v,v)[0] + "aaa"', '"bbbbbbbbbbbbbbbbbbbbbbbbaaa"', 38, 19),
    ('["bbbbbbbbbbbbbbbbbbbbbbbb"].transformList(k,v,v).map(z,z+"a")', '["bbbbbbbbbbbbbbbbbbbbbbbba"]', 61, 31),
    ('{"a":1}.transformMap(k,v,v).map(z,z+"aaaaaaaaaaaaaaaaa")', '["aaaaaaaaaaaaaaaaaa"]', 1844674407370955353, 21),
    ('{"a":1}.transformMap(k,v,v>0,v).size()', "1", 68, 8),
    ('{"a":1}.transformMap(k,v,v).all(k,v,true)', "true", 69, 9),
)


@pytest.mark.parametrize(("expression", "expected", "max_cost", "cost"), ROWS, ids=[row[0] for row in ROWS])
def test_row(expression: str, expected: str, max_cost: int | None, cost: int | None) -> None:
    found = answer(expression)
    assert shown(found) == expected
    if max_cost is not None:
        assert (found.max_cost, found.cost) == (max_cost, cost)
