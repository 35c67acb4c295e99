"""Elements chosen by their values: at most all of them, said as an assumption; few where one number is asked for among whole ones."""

from __future__ import annotations

import pytest

from estimator.tape.not_followed import NotFollowed
from estimator.tape.operations.choosing import ALL_CHOSEN


def test_a_condition_chooses_at_most_all(torch, tape):
    x = torch.empty(4, 6, requires_grad=True)
    assert x[x > 0].shape == (24,)
    assert x[(x > 0).any(1)].shape == (4, 6)
    assert torch.masked_select(x, x[:, :1] > 0).shape == (24,)
    assert (x != 1).nonzero().shape == (24, 2)
    assert [tuple(column.shape) for column in torch.where(x > 0)] == [(24,), (24,)]
    assert ALL_CHOSEN in tape.assumptions


def test_next_to_nothing_is_the_other_end(torch, tape):
    tape.chooses_few = True
    assert torch.empty(4, 6)[torch.empty(4, 6) > 0].shape == (1,)


def test_one_number_among_whole_ones_is_not_guessed(torch):
    experts = torch.zeros(8, dtype=torch.int64)
    with pytest.raises(NotFollowed, match="how many elements"):
        experts[experts == 3]
    with pytest.raises(NotFollowed, match="how many elements"):
        torch.where((experts == 3).view(2, 4))
    assert experts[experts != 3].shape == (8,)


def test_gradients_go_where_the_elements_were(torch):
    x = torch.empty(4, 6, requires_grad=True)
    x[x > 0].sum().backward()
    assert x.grad.shape == (4, 6)


def test_different_elements_are_at_most_all(torch):
    values, inverse = torch.unique(torch.zeros(7, dtype=torch.int64), return_inverse=True)
    assert (values.shape, inverse.shape) == ((7,), (7,))
