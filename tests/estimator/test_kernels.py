from __future__ import annotations

import pytest

from estimator.kernels import SM75, SM80, SM90, Attention, attention_kernel, workspace_bytes


@pytest.mark.parametrize(
    ("generation", "dtype", "heads", "masked", "kernel"),
    [
        (SM80, "bfloat16", (12, 12), False, Attention.FLASH),
        (SM80, "float16", (32, 8), False, Attention.FLASH),
        (SM80, "bfloat16", (12, 12), True, Attention.EFFICIENT),
        (SM80, "float32", (12, 12), False, Attention.EFFICIENT),
        (SM80, "float32", (14, 2), False, Attention.MATH),
        (SM80, "float64", (12, 12), False, Attention.MATH),
        (SM75, "float16", (12, 12), False, Attention.EFFICIENT),
        (SM75, "bfloat16", (12, 12), False, Attention.MATH),
    ],
)
def test_the_attention_kernel(generation, dtype, heads, masked, kernel):
    assert attention_kernel(generation, dtype, heads, (64, 64), masked=masked) is kernel


def test_wide_heads_and_a_programs_choice_leave_fewer_kernels():
    assert attention_kernel(SM80, "bfloat16", (8, 8), (512, 512), masked=False) is Attention.EFFICIENT
    assert attention_kernel(SM80, "bfloat16", (8, 8), (64, 64), masked=False, allowed=frozenset({Attention.MATH})) is Attention.MATH


def test_workspaces():
    assert workspace_bytes(SM80) == 8519680
    assert workspace_bytes(SM90) == 32 << 20
