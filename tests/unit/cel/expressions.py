"""Hypothesis strategies: expressions that mostly compile, and devices to ask them about."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

_STRINGS = ['"abc"', '""', '"a"', '"1.2.3"', '"é"', "device.driver", 'device.attributes["d"].s', "dyn(device.driver)"]
_INTS = ["0", "1", "-7", "5", "9223372036854775807", 'device.attributes["d"].i', 'size(device.attributes["d"])']
_DYN = [
    *('device.attributes["d"].s', 'device.attributes["d"].i', 'device.attributes["d"].b', 'device.attributes["d"].v'),
    *('device.attributes["d"].zz', 'device.attributes["d"].?i.orValue(3)', "dyn(2u)", "dyn(1.5)", "dyn(null)"),
    *('device.attributes["o"].x', "device.attributes.d.s", 'dyn(device.capacity["d"].mem)', "dyn([1, 2])"),
]
_VERSIONS = ['semver("1.2.3")', 'semver("2.0.0-a")', 'semver("x")']
_QUANTITIES = ['quantity("40Gi")', 'device.capacity["d"].mem', 'device.capacity["d"].zz', 'quantity("1.5Gi")']
_LISTS = ["[1, 2, 3]", "[0, 1]", '[dyn("a"), dyn(1)]', "[]", '[device.attributes["d"].i]']

strings = st.sampled_from(_STRINGS)
ints = st.sampled_from(_INTS)
anything = st.sampled_from([*_DYN, *_STRINGS, *_INTS, *_VERSIONS, *_QUANTITIES])


def _atoms() -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("{} == {}".format, st.sampled_from(_DYN), anything),
        st.builds("{} != {}".format, st.sampled_from(_DYN), anything),
        st.builds("{} < {}".format, st.sampled_from(_DYN), anything),
        st.builds("{}.startsWith({})".format, st.sampled_from(_DYN), strings),
        st.builds('{}.matches("{}")'.format, strings, st.sampled_from(["a+", "^a", "\\\\d", "é"])),
        st.builds("{} in {}".format, st.sampled_from(_DYN), st.sampled_from(_LISTS)),
        st.builds('{} in ["abc", "x"]'.format, st.sampled_from(_DYN)),
        st.builds("{} + {} > {}".format, ints, ints, ints),
        st.builds("{} / {} == {}".format, ints, ints, ints),
        st.builds("{}.isGreaterThan({})".format, st.sampled_from(_QUANTITIES), st.sampled_from(_QUANTITIES)),
        st.builds("{}.isLessThan({})".format, st.sampled_from(_DYN), st.sampled_from(_VERSIONS)),
        st.sampled_from(
            [
                *('has(device.attributes["d"].i)', 'has(device.attributes["n"].i)', '"d" in device.attributes'),
                *('device.attributes["d"].b', "device.allowMultipleAllocations", "true", "false", "dyn(5)"),
                *('device.attributes["d"].?s.hasValue()', 'device.attributes[?"n"].?s.hasValue()'),
            ]
        ),
    )


def _compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} && {})".format, inner, inner),
        st.builds("({} || {})".format, inner, inner),
        st.builds("!({})".format, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds(
            "{}.{}(e, {})".format,
            st.sampled_from(_LISTS),
            st.sampled_from(["all", "exists", "exists_one"]),
            st.one_of(inner, st.sampled_from(["dyn(e) == 1", "4 / int(dyn(e)) > 1", "dyn(e) > 0"])),
        ),
        st.builds("{}.filter(e, {}).size() > 0".format, st.sampled_from(_LISTS), inner),
        st.builds("{}.map(e, {}).size() == 2".format, st.sampled_from(_LISTS), inner),
        st.builds('cel.bind(a, device.attributes["d"], {} || a.i == 5)'.format, inner),
        st.builds("cel.bind(a, {}, a || a)".format, inner),
        st.builds('device.attributes["d"].exists(k, {} && k != "q")'.format, inner),
    )


selectors = st.recursive(_atoms(), _compound, max_leaves=6)

_names = st.sampled_from(["s", "i", "b", "v", "o/x", "zz", "other/s"])
_values: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.builds(lambda value: {"string": value}, st.sampled_from(["abc", "a", "", "x"])),
    st.builds(lambda value: {"int": value}, st.sampled_from([0, 1, 5])),
    st.builds(lambda value: {"bool": value}, st.booleans()),
    st.builds(lambda value: {"version": value}, st.sampled_from(["1.2.3", "1.2.3+b", "2.0.0-rc.1", "bad"])),
)
devices = st.fixed_dictionaries(
    {
        "driver": st.sampled_from(["d", "other"]),
        "attributes": st.dictionaries(_names, _values, max_size=5),
        "capacity": st.dictionaries(st.sampled_from(["mem", "zz", "o/mem"]), st.sampled_from(["40Gi", "1", "1.5Gi"])),
        "multi": st.sampled_from([None, True, False]),
    }
)
