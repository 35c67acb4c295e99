from __future__ import annotations

import json
from pathlib import Path

import pytest

from estimator.timeline import timeline
from tests.estimator.tape.native import run

ROWS = json.loads((Path(__file__).parent / "reference.json").read_text())["rows"]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['program']}-{i}" for i, row in enumerate(ROWS)])
def test_the_peak_is_that_of_real_pytorch(row):
    found = timeline(run(row["program"], **row["names"]).events)
    assert found.allocated == pytest.approx(row["allocated"], rel=0.001)
    assert found.phase.value == row["phase"]
    assert sum(found.components.values()) == found.allocated
    assert found.reserved >= found.allocated
