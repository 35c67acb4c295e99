"""Numbers that are known of a tensor stay known in views of it and on the device, as long as nothing is written there."""

from __future__ import annotations

from estimator.tape.filled import FILLED, Filled


def test_positions_of_a_grid_say_how_large_it_is(torch):
    places = (
        torch.cartesian_prod(torch.arange(1, device="cpu"), torch.arange(5, device="cpu"), torch.arange(7, device="cpu"))
        .unsqueeze(0)
        .expand(1, -1, -1)
        .to("cuda")
    )
    for place in places:
        rows, columns = torch.max(place[:, 1]) + 1, torch.max(place[:, 2]) + 1
        out = torch.zeros((rows * columns, 3), device="cuda")
        assert out.view(rows, columns, 3).shape == (5, 7, 3)


def test_what_is_written_is_not_known_any_more(torch):
    places = torch.arange(6, device="cpu").to("cuda")
    assert places[5].item() == 5
    places[5] = 9
    assert places.max().values is None


def test_slices_keep_their_numbers(torch):
    grid = torch.cartesian_prod(torch.arange(3, device="cpu"), torch.arange(2, device="cpu"))
    assert grid[:, 0].tolist() == [0, 0, 1, 1, 2, 2]
    assert grid.unbind(0)[3].tolist() == [1, 1]


def test_lengths_of_texts_are_taken_at_their_longest_and_said(torch, tape):
    mask = torch.ones(2, 5, dtype=torch.int64, device="cpu")
    mask.values = Filled((1,) * 10)
    assert mask.to("cuda").bool().repeat(2, 1).sum(dim=1).tolist() == [5, 5, 5, 5]
    assert FILLED in tape.assumptions
