from __future__ import annotations

import pytest

from tests.estimator.tape.events import alive, sizes


@pytest.fixture
def functional(torch):
    return torch.nn.functional


def test_a_weight_is_cast_once_until_autocast_ends(torch, tape, functional):
    weight = torch.nn.Parameter(torch.empty(256, 256))
    x = torch.empty(2, 256)
    with torch.no_grad():
        before = alive(tape)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            y = functional.linear(x, weight)
            functional.linear(x, weight)
            assert y.dtype is torch.bfloat16
            assert sizes(tape).count(256 * 256 * 2) == 1
        del y
        assert alive(tape) - before == _workspaces(tape)


def _workspaces(tape):
    return 8519680 * len(tape.workspaces)


def test_some_operations_run_in_fp32_and_some_in_what_they_get(torch, functional):
    x = torch.empty(4, 64, dtype=torch.bfloat16)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert functional.layer_norm(x, (64,)).dtype is torch.float32
        assert functional.softmax(x, -1).dtype is torch.float32
        assert functional.gelu(x).dtype is torch.bfloat16
        assert x.sum().dtype is torch.float32
        assert torch.cat([x, x.float()]).dtype is torch.float32
        with torch.autocast("cuda", enabled=False):
            assert functional.softmax(x, -1).dtype is torch.bfloat16


def test_autocast_is_a_decorator_and_knows_its_older_spellings(torch, functional):
    x, w = torch.empty(2, 8), torch.empty(8, 8)

    @torch.cuda.amp.autocast(dtype=torch.float16)
    def forward():
        assert torch.is_autocast_enabled()
        return functional.linear(x, w)

    assert forward().dtype is torch.float16
    assert not torch.is_autocast_enabled()
    assert functional.linear(x, w).dtype is torch.float32


def test_casts_come_last_argument_first(torch, tape, functional):
    x, weight, bias = torch.empty(2, 256), torch.nn.Parameter(torch.empty(512, 256)), torch.nn.Parameter(torch.empty(512))
    tape.workspaces |= {False}
    tape.events.clear()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        functional.linear(x, weight, bias)
    assert sizes(tape)[:4] == [1024, 512 * 256 * 2, 1024, 2048]
