"""An automaton over a tree says what it would say over each path on its own; doubt silences what a branch does not prove."""

import itertools
import random

import pytest

from analysis.snapshot import Snapshot
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Witness
from analysis.trace.events import Context, Event, Kind
from analysis.trace.tree import Alt, Node, Seq
from tests.analysis.trace import trees

seq, alt, loop, call, leave = trees.seq, trees.alt, trees.loop, trees.call, trees.leave

#: "b" twice with no "z" in between.
TWICE = Automaton(
    start="clean",
    table={("clean", "b"): "used", ("used", "b"): "used", ("used", "z"): "clean", ("used", "o"): "unknown", ("unknown", "z"): "clean"},
    faults=frozenset({("used", "b")}),
    neutral=frozenset({"clean", "unknown"}),
    cures=frozenset({"z"}),
)


def run(automaton: Automaton, root: Seq) -> list[Witness]:
    trace = Trace(Snapshot.of({}), root, "train.py")
    return list(trace.run(automaton, lambda event: event.subject, Kind.STEP))


def words(witnesses: list[Witness]) -> list[str]:
    return ["".join(letter for _, letter in witness.events) for witness in witnesses]


def faulty(automaton: Automaton, word: str) -> bool:
    state = automaton.start
    for letter in word:
        if (state, letter) in automaton.faults:
            return True
        state = automaton.table.get((state, letter), state)
    return False


def random_tree(source: random.Random, depth: int, *, in_loop: bool = False) -> Node:
    kind = source.randrange(6) if depth else 0
    parts = [random_tree(source, depth - 1, in_loop=in_loop or kind == 3) for _ in range(source.randrange(1, 4))] if depth else []
    match kind:
        case 0 | 1:
            return trees.event(source.choice("bzo"))
        case 2:
            return alt(*(seq(part) for part in parts))
        case 3:
            return loop(*(seq(part) for part in parts))
        case 4:
            return call(seq(*parts, leave("return") if source.random() < 0.3 else "b"))
        case _:
            exits = ["raise", "break", "continue"] if in_loop else ["raise"]
            return alt(seq(*parts, leave(source.choice(exits))), seq("b"))


@pytest.mark.parametrize("seed", range(300))
def test_a_pass_over_the_tree_equals_all_passes_over_its_paths(seed):
    root = seq(*(random_tree(random.Random(seed * 7 + n), 4) for n in range(2)))
    ways = list(itertools.islice(trees.paths(root), 5000))
    without_doubt = Automaton(TWICE.start, TWICE.table, TWICE.faults, TWICE.neutral, frozenset())
    assert bool(run(without_doubt, root)) == any(faulty(TWICE, word) for _, word in ways)
    if run(TWICE, root):  # doubt only ever silences
        assert any(faulty(TWICE, word) for _, word in ways)


@pytest.mark.parametrize("word", ["".join(letters) for n in range(6) for letters in itertools.product("bzo", repeat=n)])
def test_without_branches_there_is_no_doubt(word):
    assert bool(run(TWICE, seq(*word))) == faulty(TWICE, word)


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        (seq("b", alt(seq("z"), seq()), "b"), []),
        (seq("b", alt(seq("o"), seq()), "b"), ["bb"]),
        (seq(alt(seq("z"), seq()), "b", "b"), ["bb"]),
        (seq(loop(seq("b", alt(seq(leave("continue")), seq()), "z"), seq("b", "z"))), []),
        (seq(loop(seq("b", alt(seq(leave("continue")), seq())), seq("b"))), ["bb"]),
        (seq(call(seq("b", alt(seq(leave("return")), seq()), "z")), "b"), []),
        (seq(loop(seq("b", alt(seq(leave("break")), seq()), "z")), "b"), []),
        (seq("b", alt(seq(leave("raise")), seq("z")), "b"), []),
        (seq("b", alt(seq("z", "b", "b"), seq("b"))), ["bb"]),
        (seq("b", alt(seq("z", leave("raise")), seq()), "b"), []),
        (seq(alt(seq("b", leave("raise")), seq()), "b"), []),
        (seq(alt(seq("b", leave("raise")), seq("b", leave("raise"))), "b"), ["bb"]),
        (seq(call(seq("b", leave("raise"))), "b"), ["bb"]),
    ],
)
def test_doubt(root, expected):
    assert words(run(TWICE, root)) == expected


def test_the_witness_begins_where_things_were_last_in_order():
    (witness,) = run(TWICE, seq("b", "z", "b", "b"))
    assert [letter for _, letter in witness.events] == ["b", "b"]
    assert witness.last("b") is witness.events[0][0]


def test_what_holds_no_letter_is_passed_over_without_reading_it():
    quiet = Seq([Event(Kind.ITEM, Span("train.py", n, n), (), Context()) for n in range(10)])
    root = seq("b", alt(quiet, Seq()), loop(quiet), "b")
    assert words(run(TWICE, root)) == ["bb"]


def test_an_alternative_without_letters_still_lets_its_exits_leave():
    root = seq(loop(Seq([Alt(trees.NOWHERE, [seq(leave("break")), seq()]), trees.event("b")]), seq("b")))
    assert words(run(TWICE, root)) == ["bb"]
