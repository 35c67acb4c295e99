"""Where values were set, lists of unknown length, and objects that are mappings."""

from __future__ import annotations

import pytest

from analysis.interpreter.binding import origin
from analysis.interpreter.frames import Frame
from analysis.interpreter.values import HostFunction, Symbol
from tests.analysis.interpreter.plain import PlainDomain, run

SETTINGS = (
    "class Config:\n    rows = 8\n    def __init__(self):\n        self.size = 4\nconfig = Config()\ntable = {\n    'batch': 16,\n    'deep': {'lr': 1},\n}\n"
)


class Asking(PlainDomain):
    """Notes the lines that the arguments of ``ask`` come from."""

    def __init__(self):
        super().__init__(tracks_places=True)
        self.lines = []

    def lookup(self, dotted):
        return HostFunction("ask", self.ask) if dotted == "lib.ask" else super().lookup(dotted)

    def ask(self, call):
        source = call.machine.snapshot.source("main.py")
        positional, named = call.machine.argument_places
        self.lines += [source.line_of(span.start) for span in (*positional, *named.values()) if span is not None]


@pytest.mark.parametrize(
    ("argument", "line"),
    [
        ("config.size", 4),
        ("config.rows", 2),
        ("Config.rows", 2),
        ("table['batch']", 7),
        ("table['deep']['lr']", 8),
        ("**table['deep']", 8),
        ("lr=table['batch']", 7),
        ("32", 10),
    ],
)
def test_an_argument_is_followed_to_where_its_value_was_set(argument, line):
    domain = Asking()
    run(f"{SETTINGS}from lib import ask; ask({argument})", domain)
    assert domain.lines == [line]


def test_a_place_outlives_a_spread_into_another_dict():
    domain = Asking()
    run(f"{SETTINGS}from lib import ask; other = {{**table}}; ask(other['batch'])", domain)
    assert domain.lines == [7]


def test_the_origin_of_an_expression_is_itself():
    found, machine = run("x = 1 + 1", Asking())
    node = machine.snapshot.source("main.py").tree.body[0].value
    assert found["x"] == 2
    assert origin(machine, node, _frame(machine)).start == 4


def _frame(machine):
    return Frame(machine.loaded["main.py"], machine.loaded["main.py"].vars)


def test_a_slice_of_something_unknown_between_two_numbers_has_a_length():
    found, _ = run("import lib\nr = (len(lib.f()[2:6]), len(lib.f()[:3]), len(lib.f()[2:]), len(lib.f()[-3:2]))")
    assert found["r"][:2] == (4, 3)
    assert all(isinstance(length, Symbol) for length in found["r"][2:])


class Whole(PlainDomain):
    def collected(self, machine, made, span):
        return Symbol("a collection", span)


def test_a_collection_of_unknown_length_is_the_domains_to_judge():
    found, _ = run("import lib\na = [x for x in lib.f()]\nb = [x for x in (1, 2)]\nc = {x: 1 for x in lib.f()}", Whole())
    assert isinstance(found["a"], Symbol)
    assert found["b"] == [1, 2]
    assert isinstance(found["c"], Symbol)


def test_a_file_that_is_not_there_has_unknown_lines():
    found, machine = run("n = 0\nfor line in open('rows.csv'):\n    n += 1\ntext = open('rows.csv').read()")
    assert machine.unknown_items > 0
    assert found["text"].why == "the content of rows.csv"


MAPPING = """
class Row(dict):
    pass

class Pair:
    def keys(self):
        return ['a', 'b']
    def __getitem__(self, name):
        return name * 2

row = Row()
row['k'] = 1
"""


def test_objects_that_are_mappings_are_spread_and_copied():
    found, _ = run(f"{MAPPING}r = ({{**Pair(), 'c': 1}}, dict(Pair()), dict(row), isinstance(row, dict), isinstance(Pair(), dict))")
    assert found["r"] == ({"a": "aa", "b": "bb", "c": 1}, {"a": "aa", "b": "bb"}, {"k": 1}, True, False)


def test_finally_alone_expects_no_failure():
    found, machine = run("r = []\ntry:\n    r.append(1)\nfinally:\n    r.append(2)\n")
    assert found["r"] == [1, 2]
    assert machine.try_depth == 0


def test_what_a_symbol_comes_of_is_kept():
    found, _ = run("import lib\nx = lib.f()\nr = (x.a, x[0], x + 1, x[1:2])")
    assert all(part.source is found["x"] for part in found["r"])
