from __future__ import annotations

from tests.estimator.tape.events import alive, sizes

KIB = 1024
ROWS = 1024 * KIB


def _block(torch, calls):
    weight = torch.nn.Parameter(torch.empty(256, 256))

    def block(x):
        calls.append(1)
        return x + torch.nn.functional.linear(torch.nn.functional.gelu(torch.nn.functional.linear(x, weight)), weight)

    return block


def test_checkpointing_keeps_inputs_and_runs_again_in_backward(torch, tape):
    calls = []
    block = _block(torch, calls)
    x = torch.empty(1024, 256, requires_grad=True)
    tape.workspaces |= {False, True}
    before = alive(tape)
    plain = block(x)
    kept_plain = alive(tape) - before
    del plain
    assert alive(tape) == before
    kept = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    assert alive(tape) - before == ROWS
    assert kept_plain == 3 * ROWS
    assert len(calls) == 2
    kept.sum().backward()
    assert len(calls) == 3
    assert x.grad is not None


def test_the_second_run_stops_when_everything_is_there(torch, tape):
    block = _block(torch, [])
    x = torch.empty(1024, 256, requires_grad=True)
    tape.workspaces |= {False, True}
    y = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)
    loss = y.sum()
    del y
    tape.events.clear()
    loss.backward()
    log = sizes(tape)
    # First the gradient of the addition (a view of one number: nothing), then the function again: the first product, gelu, and there
    # it stops, before the second product and the sum take memory. The gradients of that product come next.
    assert log[:5] == [512, ROWS, ROWS, 256 * KIB, ROWS]


def test_modes_are_as_they_were_after_a_run_was_stopped_inside_them(torch, tape):
    def block(x):
        with torch.autocast("cuda", dtype=torch.bfloat16):
            y = torch.nn.functional.linear(x, weight)
            return y.float().exp().sum()

    weight = torch.nn.Parameter(torch.empty(16, 16))
    x = torch.empty(4, 16, requires_grad=True)
    torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False).backward()
    assert not torch.is_autocast_enabled()
    assert tape.autocast.depth == 0
    assert not tape.autocast.casts
    assert torch.is_grad_enabled()
    assert weight.grad.dtype is torch.float32


def test_nothing_is_checkpointed_without_a_graph(torch):
    calls = []
    with torch.no_grad():
        torch.utils.checkpoint.checkpoint(_block(torch, calls), torch.empty(4, 256))
    assert len(calls) == 1
