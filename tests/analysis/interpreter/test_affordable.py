"""Programs that ask for something huge: the host does not compute it, and the program goes on."""

import pytest

from analysis.interpreter.values import Symbol
from tests.analysis.interpreter.plain import PlainDomain, run

HUGE = [
    "10 ** 10 ** 10",
    "pow(3, 10 ** 9)",
    "1 << 10 ** 12",
    "'a' * 10 ** 11",
    "10 ** 11 * [0]",
    "'a'.zfill(10 ** 11)",
    "'a'.center(10 ** 9)",
    "round(5, -10 ** 10)",
    "(5).to_bytes(10 ** 9, 'big')",
    "'%999999999d' % 1",
    "'%*d' % (10 ** 9, 1)",
    "'{:>999999999}'.format(1)",
    "'{:>{width}}'.format(1, width=10 ** 9)",
    "format(1, '>999999999')",
    "('a' * 10 ** 6).join(['b'] * 1000)",
    "('a' * 10 ** 6).replace('a', 'b' * 1000)",
    "('%s' * 1000) % ('a' * 10 ** 6)",
    "('{0}' * 1000).format('a' * 10 ** 6)",
]
GROWING = [
    "x = x + x",
    "x += x",
    "x = x * 2",
    "x = f'{x}{x}'",
    "x = ''.join([x, x])",
    "x = '%s%s' % (x, x)",
    "x = '{0}{0}'.format(x)",
    "x = x.replace('a', 'aa')",
    "x = str(x) + str(x)",
]


class Lenient(PlainDomain):
    def host_failed(self, machine, callee, error, span):
        return Symbol("what the host could not compute", span, machine.stamp)


@pytest.mark.parametrize("expression", HUGE)
def test_a_huge_result_is_not_known(expression):
    found, _ = run(f"x = {expression}\nr = 'went on'\n")
    assert isinstance(found["x"], Symbol)
    assert found["r"] == "went on"


@pytest.mark.parametrize("statement", GROWING)
def test_what_doubles_stops_being_known(statement):
    found, _ = run(f"x = 'a'\n{f'{statement}{chr(10)}' * 80}r = 'went on'\n", Lenient())
    assert isinstance(found["x"], Symbol)
    assert found["r"] == "went on"


def test_lists_that_double_are_bounded():
    found, _ = run("x = [1]\ny = [1]\n" + "x = x + x\ny += y\n" * 80 + "r = 'went on'\n")
    assert found["r"] == "went on"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("sum(range(10 ** 12))", 499999999999500000000000),
        ("sum(range(10, 0, -3), 5)", 27),
        ("pow(3, 10 ** 9, 7)", 4),
        ("'epoch 1234567: %5.2f' % 1.5", "epoch 1234567:  1.50"),
        ("'{:08d}'.format(5)", "00000005"),
        ("'cuda:{}'.format(1)", "cuda:1"),
        ("'-'.join(['a', 'b'])", "a-b"),
        ("'a-b'.replace('-', '')", "ab"),
        ("2 ** 100", 2**100),
    ],
)
def test_what_is_small_is_computed(expression, value):
    found, _ = run(f"r = {expression}\n")
    assert found["r"] == value


def test_a_list_that_is_doubled_again_and_again_is_watched_once_per_object():
    domain = PlainDomain(watches_stores=True)
    found, _ = run("x = [{}, {}]\nfor _ in range(18):\n    x.extend(x)\nr = len(x)", domain)
    assert found["r"] == 2**19
    assert sum(holder is found["x"] for holder, _, _ in domain.stores) == 18 * 2
