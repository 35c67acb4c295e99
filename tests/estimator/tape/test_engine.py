from __future__ import annotations

import pytest

from estimator.tape.events import Kind
from tests.estimator.tape.events import alive, kinds, sizes

KIB = 1024


def _leaf(torch, *shape):
    return torch.nn.Parameter(torch.empty(*shape))


def test_saved_tensors_and_gradients_are_let_go_as_backward_proceeds(torch, tape):
    w = _leaf(torch, 256)
    y = (w * 2).exp().sin()
    loss = y.sum()
    del y
    assert alive(tape) == 2 * KIB + 512  # the leaf, exp's result (which both keep), the loss
    highest = _highest_during(tape, loss.backward)
    # At the first node of full size: its result and a factor of it. Later nodes free as much as they take.
    assert highest == 2 * KIB + 512
    assert alive(tape) == 2 * KIB + 512
    assert w.grad.shape == (256,)


def _highest_during(tape, action):
    start, before = len(sizes(tape)), alive(tape)
    action()
    log = sizes(tape)
    return max(sum(log[:i]) for i in range(start, len(log) + 1)) - before


def test_a_gradient_that_arrives_twice_is_added_in_place(torch, tape):
    w = _leaf(torch, 256)
    y = w * 1
    loss = (y.sin() + y.cos()).sum()
    tape.events.clear()
    loss.backward()
    taken = [size for size in sizes(tape) if size == KIB]
    # sin: 2, cos: 3, the product with 1: 1; their sum takes nothing
    assert len(taken) == 6


def test_a_leaf_takes_a_gradient_that_nobody_else_holds_and_copies_one_that_others_see(torch, tape):
    a, b = _leaf(torch, 256), _leaf(torch, 256)
    loss = (a + b).sum()
    tape.events.clear()
    loss.backward()
    # sum's gradient is a view of one number: not laid out as the leaves are, so each gets a copy
    assert [size for size in sizes(tape) if size == KIB] == [KIB, KIB]
    assert a.grad.storage is not b.grad.storage
    assert kinds(tape)[Kind.GRADIENTS] == 2 * KIB


def test_gradients_accumulate_in_place(torch, tape):
    w = _leaf(torch, 256)
    (w * 2).sum().backward()
    held = w.grad.storage
    before = alive(tape)
    (w * 2).sum().backward()
    assert w.grad.storage is held
    assert alive(tape) == before


def test_broadcast_dimensions_are_summed_and_dtypes_cast_on_the_way_back(torch):
    bias = _leaf(torch, 256)
    x = torch.empty(4, 256, dtype=torch.bfloat16, requires_grad=True)
    y = x * bias
    assert y.dtype is torch.float32
    y.sum().backward()
    assert bias.grad.shape == (256,)
    assert bias.grad.dtype is torch.float32
    assert x.grad.dtype is torch.bfloat16


def test_a_tied_weight_gets_one_gradient(torch):
    w = _leaf(torch, 64, 64)
    x = torch.empty(8, 64)
    torch.nn.functional.linear(torch.nn.functional.linear(x, w), w).sum().backward()
    assert w.grad.shape == (64, 64)


def test_no_gradient_flows_to_what_wants_none(torch, tape):
    frozen, w = torch.empty(256), _leaf(torch, 256)
    y = frozen.exp() * w
    assert y.grad_fn is not None
    y.sum().backward()
    assert frozen.grad is None
    assert w.grad is not None


def test_no_grad_records_nothing(torch, tape):
    w = _leaf(torch, 256)
    with torch.no_grad():
        y = w.exp()
    assert y.grad_fn is None
    assert not y.requires_grad

    @torch.no_grad()
    def evaluate():
        return w.exp()

    assert not evaluate().requires_grad
    with torch.no_grad(), torch.enable_grad():
        assert w.exp().requires_grad


def test_backward_through_a_graph_that_was_let_go_is_the_guests_error(torch):
    w = _leaf(torch, 4)
    loss = w.exp().sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()
    again = w.exp().sum()
    again.backward(retain_graph=True)
    again.backward()


def test_gradients_can_be_asked_for_without_touching_leaves(torch):
    w, x = _leaf(torch, 4), torch.empty(4, requires_grad=True)
    (found,) = torch.autograd.grad((w * x).sum(), x)
    assert found.shape == (4,)
    assert w.grad is None


def test_a_custom_function_keeps_what_it_saves(torch, tape):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x.exp())
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            (kept,) = ctx.saved_tensors
            return gradient * kept

    w = _leaf(torch, 256)
    y = Double.apply(w)
    assert alive(tape) == 3 * KIB
    y.sum().backward()
    assert w.grad.shape == (256,)
