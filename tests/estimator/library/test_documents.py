"""Documents of the repository: values with their lines, bounded however they are built."""

from __future__ import annotations

import pytest

from analysis.configuration.documents import as_yaml
from analysis.interpreter.values import Symbol
from analysis.snapshot import Snapshot
from estimator.request import Request
from estimator.script.domain import TapeDomain
from estimator.script.run import Machine
from estimator.tape.run import Tape


@pytest.fixture
def machine():
    domain = TapeDomain(Tape(), Request(entry="train.py"))
    made = Machine(Snapshot.of({"train.py": b"", "run.yaml": b""}), domain, 1000)
    domain.bind(made)
    return made


def test_values_know_their_lines(machine):
    text = "model:\n  name: gpt2\ntrain: {batch: 8, lr: 1.0e-4, amp: true}\nlayers: [1, 2]\n"
    found = as_yaml(machine, text, "run.yaml")
    assert found == {"model": {"name": "gpt2"}, "train": {"batch": 8, "lr": 1e-4, "amp": True}, "layers": [1, 2]}
    span = machine.place_of(found["train"], "batch")
    assert (span.path, text[: span.start].count("\n")) == ("run.yaml", 2)


def test_merged_mappings_give_way_to_own_keys(machine):
    found = as_yaml(machine, "base: &base {lr: 1, batch: 2}\nrun:\n  batch: 4\n  <<: *base\n", "run.yaml")
    assert found["run"] == {"lr": 1, "batch": 4}


@pytest.mark.parametrize(
    "text",
    [
        "a: [1, 2",
        "a: !!python/object/apply:os.system [echo]",
        "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(f"{n}: &{n} [{', '.join([f'*{p}'] * 9)}]\n" for p, n in zip("abcdefg", "bcdefgh", strict=True)),
        "a: &a\n  b: *a\n",
        "x: " + "[" * 3000,
        "a: " + "b" * 300_000,
    ],
    ids=["broken", "object", "bomb", "itself", "deep", "long"],
)
def test_what_cannot_be_read_is_a_symbol(machine, text):
    found = as_yaml(machine, text, "run.yaml")
    assert isinstance(found, Symbol)
    assert "run.yaml" in found.why
