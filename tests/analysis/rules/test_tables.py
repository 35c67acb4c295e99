"""The transition tables against oracles that look at the whole word: every word up to six or seven letters."""

import itertools
import re

import pytest

from analysis.rules import evaluation_with_grad, missing_zero_grad, stuck_in_eval
from analysis.trace.automaton import Automaton

#: Letters in a word, fewer where there are many to choose from.
LONGEST, FEWER, MANY = 7, 6, 6


def words(alphabet: str):
    return ("".join(letters) for length in range((FEWER if len(alphabet) > MANY else LONGEST) + 1) for letters in itertools.product(alphabet, repeat=length))


def faulty(automaton: Automaton, word: str, names: dict[str, str]) -> bool:
    state = automaton.start
    for letter in word:
        if (state, names[letter]) in automaton.faults:
            return True
        state = automaton.table.get((state, names[letter]), state)
    return False


#: Words after which nothing is known of a model's mode, and those that put a model which has never trained in eval and judge it.
_NEW = r"(?:[ovj]|b[vbj]*o|(?:b[vbj]*)?e[evb]*(?:l[^to]*)?o)*"
_JUDGED = r"(?:b[vbj]*)?e[evb]*j[evbj]*"
#: Each oracle is a regular expression over the letters of the rule: some part of the word is the mistake.
ORACLES = {
    "missing-zero-grad": (
        missing_zero_grad.PROTOCOL,
        {"b": "backward", "s": "step", "z": "zero", "o": "opaque"},
        # Gradients of a backward, used by a step, added to by another backward, used again; known since the start or the last clearing.
        re.compile(r"(?:^[^o]*|z[^o]*)b[bs]*s[bs]*b[bs]*s"),
    ),
    "stuck-in-eval": (
        stuck_in_eval.MODE,
        {"e": "eval", "t": "train", "l": "learn", "v": "evaluate", "j": "judge", "o": "opaque", "b": "born"},
        # Trained in training mode, then eval, an evaluation, and a training step with no train() in between; or a step in the mode it came in;
        # or put in eval before it ever trained, judged, and then trained.
        re.compile(
            rf"(?:t|^{_NEW}l|^{_NEW}{_JUDGED}o).*e[elvbj]*[vj][elvbj]*l|^{_NEW}b[vbj]*l|^{_NEW}{_JUDGED}l",
        ),
    ),
    "evaluation-with-grad": (
        evaluation_with_grad.MODE,
        {"e": "eval", "t": "train", "w": "wasted", "o": "opaque"},
        re.compile(r"e[ew]*w"),
    ),
}


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
