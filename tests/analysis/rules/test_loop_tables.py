"""The tables of the rules about the optimization loop against regular expressions over whole words of letters."""

import itertools
import re

import pytest

from analysis.rules import clip_before_unscale, clip_order, scaler_without_update, step_bypasses_scaler, step_without_backward, zero_grad_before_step
from analysis.trace.automaton import Automaton

#: So many words at most: the longer the alphabet, the shorter they are.
WORDS = 60_000

_USED = "(?:b+s[su]*)"
_TO_CLEAN = f"(?:[cszou]|{_USED}*b+[zou]|{_USED}+[zo]|{_USED}*b+c+[szou]|{_USED}*b+c+b[bu]*[szo])*"
#: Each automaton, its letters, and the words in which some part is the mistake.
ORACLES = {
    "zero-grad-before-step": (
        zero_grad_before_step.PROTOCOL,
        {"b": "backward", "s": "step", "z": "zero", "o": "opaque", "u": "use"},
        re.compile(r"bz[zu]*s"),
    ),
    "step-without-backward": (
        step_without_backward.PROTOCOL,
        {"b": "backward", "s": "step", "z": "zero", "o": "opaque", "u": "use"},
        # Nothing is known, or a step has used what there was; then a clearing, and a step with nothing in between.
        re.compile(r"^(?:[sou]|z[zs]*[ou]|(?:z[zs]*)?b[bzu]*[so])*z[zs]*s"),
    ),
    "scaler-without-update": (
        scaler_without_update.PROTOCOL,
        {"s": "step", "u": "update", "o": "opaque"},
        re.compile(r"ss"),
    ),
    "clip-before-unscale": (
        clip_before_unscale.PROTOCOL,
        {"S": "scaled", "b": "backward", "n": "unscale", "s": "step", "z": "zero", "u": "use", "o": "opaque", "c": "clip"},
        re.compile(r"S[Sc]*c"),
    ),
    "step-bypasses-scaler": (
        step_bypasses_scaler.PROTOCOL,
        {"S": "scaled", "b": "backward", "n": "unscale", "s": "step", "p": "plain step", "g": "guarded step", "z": "zero", "u": "use", "o": "opaque"},
        re.compile(r"S[pg]|Sn+p"),
    ),
    "clip-order": (
        clip_order.PROTOCOL,
        {"b": "backward", "c": "clip", "s": "step", "z": "zero", "o": "opaque", "u": "use"},
        # After a step took unclipped gradients; or again, after another backward added to clipped ones; or before any backward.
        re.compile(f"^{_TO_CLEAN}(?:{_USED}+c|{_USED}*b+c+b[bu]*c)|z[su]*c+b+s"),
    ),
}


def words(alphabet: str):
    longest = next(length for length in itertools.count(1) if len(alphabet) ** (length + 1) > WORDS)
    return ("".join(letters) for length in range(longest + 1) for letters in itertools.product(alphabet, repeat=length))


def faulty(automaton: Automaton, word: str, names: dict[str, str]) -> bool:
    state = automaton.start
    for letter in word:
        if (state, names[letter]) in automaton.faults:
            return True
        state = automaton.table.get((state, names[letter]), state)
    return False


@pytest.mark.parametrize("name", ORACLES)
def test_table_equals_oracle(name):
    automaton, names, oracle = ORACLES[name]
    wrong = [word for word in words("".join(names)) if faulty(automaton, word, names) != bool(oracle.search(word))]
    assert wrong == []


@pytest.mark.parametrize("name", ORACLES)
def test_tables_are_well_formed(name):
    automaton, names, _ = ORACLES[name]
    states = {automaton.start, *automaton.table.values(), *(state for state, _ in automaton.table)}
    letters = set(names.values())
    assert {letter for _, letter in (*automaton.table, *automaton.faults)} <= letters
    assert automaton.neutral <= states
    assert automaton.cures <= letters
    assert automaton.start in automaton.neutral
    assert automaton.certain
