"""A named model of every family can be estimated without a script."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.snapshot import Snapshot
from estimator import catalog
from estimator.request import Request
from estimator.run import estimate

COUNTS = json.loads((Path(__file__).parents[1] / "zoo" / "parameters.json").read_text(encoding="utf-8"))["counts"]
TENSORS = {row["model"]: row["tensors"] for row in COUNTS}
NAMED = sorted({entry.family for entry in catalog.models()})
#: The model of each family with the fewest tensors, so that the tests stay short.
SMALLEST = {family: min((entry for entry in catalog.models() if entry.family == family), key=lambda entry: TENSORS[entry.name]) for family in NAMED}


@pytest.mark.parametrize("family", NAMED)
def test_a_named_model_of_every_family_is_trained(family):
    [found] = estimate(Snapshot.of({}), Request(model=SMALLEST[family].name, overrides={"batch_size": 1}))
    assert found.memory is not None, found.unknowns
    assert found.memory.parameters >= found.memory.trainable_parameters > 0
    assert not found.unknowns
