from __future__ import annotations

from analysis.certainty import Place
from estimator.allocator import MIB
from estimator.tape.events import Allocated, Became, Entered, Freed, Kind, Phase
from estimator.timeline import timeline

HERE, THERE = Place("train.py", 3), Place("train.py", 9)


def test_nothing_happened():
    found = timeline([])
    assert (found.allocated, found.reserved, found.components, found.holders) == (0, 0, {}, ())


def test_the_peak_its_phase_and_what_is_alive_at_it():
    found = timeline(
        [
            Allocated(1, 2 * MIB, Kind.ACTIVATIONS, HERE),
            Became(1, Kind.PARAMETERS),
            Allocated(2, 3 * MIB, Kind.ACTIVATIONS, THERE),
            Entered(Phase.BACKWARD),
            Allocated(3, 4 * MIB, Kind.TEMPORARY, THERE),
            Freed(2),
            Became(3, Kind.GRADIENTS),
            Entered(Phase.OPTIMIZER_STEP),
            Freed(3),
        ]
    )
    assert found.allocated == 9 * MIB
    assert found.phase is Phase.BACKWARD
    assert found.components == {Kind.PARAMETERS: 2 * MIB, Kind.ACTIVATIONS: 3 * MIB, Kind.TEMPORARY: 4 * MIB}
    assert [(held.place, held.bytes) for held in found.holders] == [(THERE, 4 * MIB), (THERE, 3 * MIB), (HERE, 2 * MIB)]
    assert found.phases == {Phase.FORWARD: 5 * MIB, Phase.BACKWARD: 9 * MIB}


def test_what_a_step_leaves_behind_is_state_and_what_it_frees_is_temporary():
    found = timeline(
        [
            Entered(Phase.OPTIMIZER_STEP),
            Allocated(1, 2 * MIB, Kind.TEMPORARY, HERE),
            Allocated(2, 2 * MIB, Kind.TEMPORARY, HERE),
            Freed(2),
            Entered(Phase.FORWARD),
        ]
    )
    assert found.components == {Kind.OPTIMIZER_STATE: 2 * MIB, Kind.TEMPORARY: 2 * MIB}


def test_blocks_count_with_what_could_not_be_split_off():
    found = timeline([Allocated(1, 11 * MIB + 512, Kind.ACTIVATIONS, HERE)])
    assert found.allocated == sum(found.components.values()) == 12 * MIB
