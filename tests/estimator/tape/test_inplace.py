from __future__ import annotations

from tests.estimator.tape.events import sizes

KIB = 1024


def test_in_place_operations_take_nothing(torch, tape):
    x = torch.empty(256)
    x += 1
    x.mul_(2).add_(x)
    torch.nn.functional.relu(x, inplace=True)
    assert sizes(tape) == [KIB]


def test_an_in_place_function_that_needs_its_input_copies_it_first(torch, tape):
    w = torch.nn.Parameter(torch.empty(256))
    y = w * 1
    torch.nn.functional.silu(y, inplace=True)
    assert sizes(tape) == [KIB, KIB, KIB]
    z = w * 1
    torch.nn.functional.relu(z, inplace=True)
    assert sizes(tape) == [KIB] * 4


def test_a_write_through_a_view_changes_the_whole_in_the_graph(torch):
    w = torch.nn.Parameter(torch.empty(4))
    x = torch.zeros(8, 4)
    x[2] = w
    assert x.requires_grad
    (x * 2).sum().backward()
    assert w.grad.shape == (4,)


def test_a_sum_with_a_shortcut_stays_in_its_memory(torch, tape):
    w = torch.nn.Parameter(torch.empty(256))
    out, shortcut = w * 1, w * 2
    held = out.storage
    out += shortcut
    assert out.storage is held
    out.sum().backward()
    assert w.grad is not None
