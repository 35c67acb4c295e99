from __future__ import annotations

import ast

import pytest

from estimator.tape.facade import NAMES, REEXPORTS, guest_modules, guest_source
from estimator.tape.not_followed import NotFollowed


@pytest.mark.parametrize("dotted", sorted(guest_modules()))
def test_guest_modules_say_what_they_are(dotted):
    source = guest_source(dotted)
    assert source is not None
    assert ast.get_docstring(ast.parse(source)), dotted


@pytest.mark.parametrize("name", sorted(REEXPORTS))
def test_second_names_lead_to_something(torch, name):
    value = torch
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    assert callable(value)


def test_usual_names_are_there():
    usual = [
        "matmul",
        "einsum",
        "cat",
        "stack",
        "arange",
        "randn",
        "zeros_like",
        "float16",
        "bfloat16",
        "no_such_name",
        "device",
        "Tensor",
        "is_tensor",
        "manual_seed",
        "cuda.is_available",
        "nn.functional.scaled_dot_product_attention",
        "nn.functional.cross_entropy",
        "utils.checkpoint.checkpoint",
        "autograd.grad",
    ]
    assert [name for name in usual if f"torch.{name}" not in NAMES] == ["no_such_name"]


def test_what_is_not_known_is_never_guessed(torch):
    x = torch.empty(4, 4, requires_grad=True)
    with pytest.raises(NotFollowed, match="how many elements"):
        x[torch.arange(4) == 0]
    with pytest.raises(NotFollowed, match="condition"):
        bool((x > 0).all())
    with pytest.raises(NotFollowed, match="einsum"):
        torch.einsum("ii->i", x.view(2, -1)[:, :2])
    with pytest.raises(NotFollowed, match="broadcast"):
        x + torch.empty(3)
    with pytest.raises(NotFollowed, match=r"linear of torch.float32 and torch.bfloat16"):
        torch.nn.functional.linear(x, torch.empty(4, 4, dtype=torch.bfloat16))


def test_numbers_of_small_host_tensors_are_followed(torch):
    rates = [x.item() for x in torch.linspace(0, 1, 5, device="cpu")]
    assert rates == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert torch.arange(3, device="cpu").tolist() == [0, 1, 2]
    assert torch.tensor([[1, 2], [3, 4]], device="cpu")[1, 0].item() == 3
    assert torch.tensor([1.5]).dtype is torch.float32
    assert torch.finfo(torch.float16).max == 65504
