from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from estimator.tape.not_followed import NotFollowed
from estimator.tape.shape import (
    broadcast,
    channels_last_strides,
    contiguous_strides,
    elementwise_strides,
    is_channels_last,
    is_contiguous,
    is_dense,
    resolve_shape,
    view_strides,
)


def test_row_major_and_channels_last():
    assert contiguous_strides((2, 3, 4)) == (12, 4, 1)
    assert channels_last_strides((2, 3, 4, 5)) == (60, 1, 15, 3)
    assert is_channels_last((2, 3, 4, 5), (60, 1, 15, 3))
    assert is_contiguous((2, 1, 4), (4, 99, 1))


def test_a_transposed_tensor_cannot_be_seen_flat():
    assert view_strides((4, 2), (1, 4), (8,)) is None
    assert view_strides((2, 3, 4), (12, 4, 1), (6, 4)) == (4, 1)
    # Heads split off a projection of queries, keys and values, then moved forward: batch and heads do not merge.
    assert view_strides((2, 4, 8, 16), (8 * 192, 16, 192, 1), (8, 8, 16)) is None


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.permutations(range(4)), st.data())
def test_a_view_reaches_the_same_elements_in_the_same_order(shape, order, data):
    shape = tuple(shape)
    fastest_first = [dim for dim in order if dim < len(shape)]
    strides, step = [0] * len(shape), 1
    for dim in fastest_first:
        strides[dim], step = step, step * shape[dim]
    count = step
    wanted = data.draw(st.sampled_from([s for s in _factorisations(count) if len(s) <= 4]))
    found = view_strides(shape, tuple(strides), wanted)
    if found is not None:
        assert _addresses(wanted, found) == _addresses(shape, tuple(strides))
    elif is_contiguous(shape, tuple(strides)):
        pytest.fail("row-major memory can always be seen in another shape")


def _factorisations(count, limit=4):
    if limit == 1:
        return [(count,)]
    found = [(count,)]
    for first in range(1, count + 1):
        if count % first == 0:
            found += [(first, *rest) for rest in _factorisations(count // first, limit - 1)]
    return found


def _addresses(shape, strides):
    return [sum(i * s for i, s in zip(index, strides, strict=True)) for index in product(*map(range, shape))]


def test_an_elementwise_result_lies_as_its_operands_do():
    heads = (2, 4, 8, 16)
    moved = (8 * 64, 16, 64, 1)
    assert elementwise_strides(heads, [(heads, moved)]) == moved
    assert elementwise_strides(heads, [(heads, moved), ((1,), (1,))]) == moved
    assert elementwise_strides(heads, [(heads, moved), (heads, contiguous_strides(heads))]) == moved
    gaps = (8 * 192, 16, 192, 1)
    assert elementwise_strides(heads, [(heads, gaps)]) == moved


def test_broadcasting_and_sizes():
    assert broadcast((3, 1), (1, 4), (4,)) == (3, 4)
    assert resolve_shape((2, -1), 8) == (2, 4)
    with pytest.raises(NotFollowed):
        broadcast((3,), (4,))
    with pytest.raises(NotFollowed):
        resolve_shape((3, -1), 8)


def test_expanded_memory_is_not_dense():
    assert not is_dense((3, 4), (0, 1))
    assert is_dense((3, 4), (1, 3))
