"""What the source does not tell: symbols, both sides of a branch, and exits that only one side takes."""

from analysis.interpreter.values import Alternatives, Symbol
from tests.analysis.interpreter.plain import PlainDomain, run


def test_both_sides_of_an_undecided_condition_run_from_the_same_state():
    found, _ = run("import os\nx, seen = 1, []\nif os.flag > 3:\n    x = 2\n    seen.append('a')\nelse:\n    seen.append('b')")
    assert isinstance(found["x"], Alternatives)
    assert found["x"].values == (2, 1)
    assert len(found["seen"]) == 1


def test_a_write_of_one_side_is_undone_before_the_other_runs():
    found, _ = run("import os\nd = {'k': 1}\nif os.flag > 3:\n    d['k'] = 5\n    a = d['k']\nelse:\n    b = d['k']")
    assert (found["a"], found["b"]) == (5, 1)
    assert found["d"]["k"].values == (5, 1)


def test_values_returned_on_different_ways_are_alternatives():
    found, _ = run("import os\ndef f():\n    if os.flag > 3:\n        return 1\n    return 2\nr = f()")
    assert set(found["r"].values) == {1, 2}


def test_what_a_side_wrote_before_it_broke_out_is_seen_after_the_loop():
    found, _ = run("import os\nx = 0\nfor i in range(4):\n    if os.flag > i:\n        x = 9\n        break")
    assert set(found["x"].values) == {0, 9}


def test_a_side_that_raises_is_taken_not_to_happen():
    found, _ = run("import os\nx = 0\nif os.flag > 3:\n    x = 1\n    raise ValueError('no')\nelse:\n    x = 2")
    assert found["x"] == 2


def test_the_same_question_is_the_same_symbol():
    found, _ = run("import os\ndef f(a):\n    return (a.x, a.x, a.x == 3, a.x == 3, a.x != 3)\nr = f(*os.args)")
    first, again, equal, equal_again, different = found["r"]
    assert first is again
    assert equal is equal_again
    assert different.test == ("not", equal)


def test_arguments_that_nobody_passes_are_symbols_named_after_them():
    found, _ = run("def f(a, b=2):\n    return a, b\nr = f()")
    assert isinstance(found["r"][0], Symbol)
    assert found["r"][1] == 2


def test_a_keyword_from_an_unknown_mapping_is_a_part_of_it():
    found, _ = run("import os\ndef f(a, b=2):\n    return a, b\nc = f(**os.environ.x)\nr = c[0]")
    assert isinstance(found["r"], Symbol)


def test_endless_loops_are_bounded_by_the_plan():
    found, machine = run("n = 0\nwhile True:\n    n += 1", PlainDomain(rounds=7))
    assert found["n"] == 7
    assert machine.tree.root.children[0].complete is False


def test_calling_itself_without_end_is_noted_and_not_followed():
    _, machine = run("def f(n):\n    return f(n + 1)\nr = f(0)")
    assert [sentence for _, sentence in machine.unresolved] == ["f calls itself too deeply to be followed"]


def test_a_side_of_a_conditional_expression_has_effects_only_on_its_side():
    found, _ = run("import os\ndef f():\n    global n\n    n = 1\n    return 5\nn = 0\nr = f() if os.flag > 1 else 7")
    assert set(found["r"].values) == {5, 7}
    assert set(found["n"].values) == {0, 1}


def test_recursion_into_unknown_data_costs_no_more_than_a_few_calls():
    walk = (
        "import os\ndef walk(data, device):\n    if data.a > 1:\n        return [walk(data.x, device), walk(data.y, device), walk(data.z, device)]\n"
        "    if data.b > 1:\n        return {'k': walk(data.x, device), 'l': walk(data.y, device)}\n    return data\n"
        "def go(data):\n    return walk(data, 'cpu')\nr = go(*os.args)"
    )
    _, machine = run(walk, budget=20_000)
    assert machine.steps > 19_000


def test_the_type_of_a_value_is_compared_by_what_the_guest_calls_it():
    found, _ = run("class M: pass\nm = M()\nr = (type(5) == int, type([]) is list, type({}) != dict, type(True) == int, type(m) is M, type(m) == list)")
    assert found["r"] == (True, True, False, False, True, False)


def test_a_decorator_that_is_not_followed_leaves_what_it_decorates():
    found, _ = run("import ray\n@ray.remote\nclass A:\n    x = 3\n@ray.task(cpus=2)\ndef f():\n    return A.x\nr = f()")
    assert found["r"] == 3


class RankDomain(PlainDomain):
    """Ranks answer differently what is asked of ``os.rank``."""

    def decide(self, machine, condition, span):
        machine.divisions.pop(span, None)
        if getattr(condition, "rank_varying", False):
            machine.divisions[span] = condition, None, None


RANK = "from ranks import rank\n"


def ranks(code):
    domain = RankDomain()
    before = domain.lookup
    domain.lookup = lambda dotted: Symbol("rank", None, rank_varying=True) if dotted == "ranks.rank" else before(dotted)
    found, _ = run(RANK + code, domain)
    return found


PLACES = """
def main():
    if rank == 0:
        return True
    return False
def other():
    if rank == 0:
        return False
    else:
        return True
r = (main(), other(), rank == 0)
"""


def test_what_a_function_gives_that_ranks_leave_in_different_places_is_what_was_asked():
    main, other, asked = ranks(PLACES)["r"]
    assert main is asked
    assert other.test == ("not", asked)


def test_a_list_that_each_rank_picks_for_itself_may_be_empty_on_some():
    found = ranks("mine = [x for x in (1, 2, 3) if rank == x]\nagain = [x + 1 for x in mine]\nempty = len(again) == 0\nall_ = [x for x in (1, 2, 3) if x > 1]")
    assert found["again"].rank_varying
    assert found["empty"].rank_varying
    assert found["all_"] == [2, 3]


def test_a_name_of_a_library_with_a_capital_is_a_class():
    found, _ = run("from somewhere import Loader, load\nr = (isinstance(Loader, type), isinstance(load, type))")
    assert found["r"][0] is True
    assert isinstance(found["r"][1], Symbol)
