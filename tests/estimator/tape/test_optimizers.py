from __future__ import annotations

import pytest

from estimator.tape.events import Kind
from estimator.timeline import timeline
from tests.estimator.tape.events import alive, sizes

SIZE = 4 * 1024 * 1024


def _stepped(torch, tape, name, **options):
    """State and temporaries of the second step, in multiples of the one parameter's size."""
    parameter = torch.nn.Parameter(torch.empty(1024, 1024))
    optimizer = getattr(torch.optim, name)([parameter], **options)
    highest = 0
    for _ in range(2):
        (parameter * 1).sum().backward()
        start = len(sizes(tape))
        optimizer.step()
        log = sizes(tape)
        highest = max(sum(log[start:i]) for i in range(start, len(log) + 1))
        optimizer.zero_grad()
    return alive(tape) / SIZE - 1, highest / SIZE


@pytest.mark.parametrize(
    ("name", "options", "state", "temporary"),
    [
        ("SGD", {}, 0, 0),
        ("SGD", {"momentum": 0.9}, 1, 0),
        ("SGD", {"momentum": 0.9, "weight_decay": 0.1}, 1, 1),
        ("Adam", {}, 2, 1),
        ("AdamW", {}, 2, 1),
        ("AdamW", {"fused": True}, 2, 0),
        ("AdamW", {"amsgrad": True}, 3, 1),
        ("RMSprop", {}, 1, 1),
    ],
)
def test_state_and_temporaries(torch, tape, name, options, state, temporary):
    found_state, found_temporary = _stepped(torch, tape, name, **options)
    assert found_state == pytest.approx(state, abs=0.01)
    assert found_temporary == pytest.approx(temporary, abs=0.01)


def test_state_is_told_from_temporaries_by_its_life(torch, tape):
    parameter = torch.nn.Parameter(torch.empty(1024, 1024))
    optimizer = torch.optim.AdamW([parameter])
    (parameter * 1).sum().backward()
    optimizer.step()
    found = timeline(tape.events)
    assert found.components[Kind.OPTIMIZER_STATE] == pytest.approx(2 * SIZE, rel=0.01)
    assert found.components[Kind.GRADIENTS] == SIZE
    assert found.components[Kind.TEMPORARY] == SIZE
    assert found.phase.value == "optimizer_step"


def test_a_users_own_optimizer_steps_in_the_same_phase(torch, tape):
    class Plain(torch.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 0.1})

        @torch.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self.state[p].setdefault("mean", torch.zeros_like(p))

    parameter = torch.nn.Parameter(torch.empty(1024, 1024))
    optimizer = Plain([parameter])
    (parameter * 1).sum().backward()
    optimizer.step()
    assert timeline(tape.events).components[Kind.OPTIMIZER_STATE] == SIZE


def test_clipping_takes_one_number_a_gradient(torch, tape):
    parameters = [torch.nn.Parameter(torch.empty(1024)) for _ in range(3)]
    sum((p * 1).sum() for p in parameters).backward()
    before = alive(tape)
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    assert alive(tape) == before


def test_a_scaler_keeps_its_scale(torch, tape):
    parameter = torch.nn.Parameter(torch.empty(1024))
    optimizer, scaler = torch.optim.SGD([parameter]), torch.cuda.amp.GradScaler()
    scaler.scale((parameter * 1).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert parameter.grad is not None


def test_state_in_eight_bits_takes_a_byte_an_element_and_a_scale_a_block(torch, tape):
    parameter = torch.nn.Parameter(torch.empty(1024, 1024))
    optimizer = torch._library.load("bitsandbytes.optim").AdamW8bit([parameter])
    (parameter * 1).sum().backward()
    before = alive(tape)
    optimizer.step()
    assert alive(tape) - before == 2 * (SIZE // 4 + SIZE // 256)


def test_muon_keeps_one_momentum(torch, tape):
    state, temporary = _stepped(torch, tape, "Muon")
    assert state == pytest.approx(1, abs=0.01) or state == pytest.approx(1 + 8519680 / SIZE, abs=0.01)
    assert temporary > 1
