from __future__ import annotations

import json
from pathlib import Path

import pytest

from estimator.kernels import Attention
from estimator.tape.events import Allocated, Freed
from estimator.tape.run import Tape
from tests.estimator.tape.native import Library

TABLE = json.loads((Path(__file__).parent / "kept.json").read_text())
PRECISIONS = ("fp32", "amp", "bf16")


class Bench:
    """A torch in one precision, and the bytes alive in it."""

    def __init__(self, tape: Tape, precision: str) -> None:
        self.tape = tape
        self.precision = precision
        self.torch = Library().load("torch")
        self.nn = Library.load(self.torch._library, "torch.nn")
        self.F = self.torch.nn.functional
        self.torch.set_default_device("cuda")
        self.base = self.torch.bfloat16 if precision == "bf16" else self.torch.float32
        self.low = self.torch.float32 if precision == "fp32" else self.torch.bfloat16
        tape.workspaces |= {False, True}

    def source(self, *shape: int):
        """An input that nothing but its user keeps."""
        leaf = self.torch.empty(1, dtype=self.low, requires_grad=True)
        return self.torch.empty(shape, dtype=self.low) + leaf

    def autocast(self):
        return self.torch.autocast("cuda", dtype=self.torch.bfloat16, enabled=self.precision == "amp")

    def layer(self, expression: str):
        self.torch.set_default_dtype(self.base)
        made = eval(expression, {"nn": self.nn})
        self.torch.set_default_dtype(self.torch.float32)
        return made

    def alive(self) -> int:
        sizes: dict[int, int] = {}
        for event in self.tape.events:
            if isinstance(event, Allocated):
                sizes[event.key] = event.size
            elif isinstance(event, Freed):
                del sizes[event.key]
        return sum(sizes.values())

    def peak(self, since: int) -> int:
        now = highest = since
        sizes: dict[int, int] = {event.key: event.size for event in self.tape.events if isinstance(event, Allocated)}
        for event in self.tape.events[self.mark :]:
            if isinstance(event, Allocated):
                now += event.size
            elif isinstance(event, Freed):
                now -= sizes[event.key]
            highest = max(highest, now)
        return highest - since

    @property
    def mark(self) -> int:
        return self._mark

    def begin(self) -> int:
        self._mark = len(self.tape.events)
        return self.alive()


@pytest.fixture(params=PRECISIONS)
def bench(request):
    tape = Tape()
    with tape.active():
        yield Bench(tape, request.param)


def _kept(bench: Bench, apply, shape: tuple[int, ...]) -> float:
    x = bench.source(*shape)
    count, before = x.numel(), bench.alive() - x.nbytes
    with bench.autocast():
        result = apply(x)
        del x
        kept = bench.alive() - before
    del result
    return kept / count


@pytest.mark.parametrize("expression", TABLE["layers"])
def test_layers_keep_what_pytorch_keeps(bench, expression):
    layer = bench.layer(expression)
    assert _kept(bench, layer, (4, 512, 1024)) == pytest.approx(TABLE["layers"][expression][PRECISIONS.index(bench.precision)], abs=0.02)


@pytest.mark.parametrize("expression", TABLE["images"])
def test_image_layers_keep_what_pytorch_keeps(bench, expression):
    if bench.precision == "bf16":
        pytest.skip("not in the table")
    layer = bench.layer(expression)
    assert _kept(bench, layer, (8, 64, 56, 56)) == pytest.approx(TABLE["images"][expression][PRECISIONS.index(bench.precision)], abs=0.02)


@pytest.mark.parametrize("kernel", TABLE["attention_beyond_queries_keys_values"])
def test_attention_kernels_keep_what_pytorch_keeps(bench, kernel):
    wanted = TABLE["attention_beyond_queries_keys_values"][kernel][PRECISIONS.index(bench.precision)]
    if wanted is None:
        pytest.skip("no flash attention in fp32")
    bench.tape.attention_kernels = frozenset({Attention(kernel)})

    def attend(x):
        q, k, v = (part.view(4, 512, 16, 64).transpose(1, 2) for part in x.split(1024, -1))
        return bench.F.scaled_dot_product_attention(q, k, v, is_causal=True)

    kept = _kept(bench, attend, (4, 512, 3072)) * 3 - 3 * bench.low.itemsize
    assert kept == pytest.approx(wanted, abs=0.02)


def test_cross_entropy_keeps_and_peaks_as_in_pytorch(bench):
    rows, classes = 2048, 32000
    logits = bench.torch.empty(rows, classes, dtype=bench.low, requires_grad=True) * 1
    target = bench.torch.empty(rows, dtype=bench.torch.long)
    wanted, before = TABLE["cross_entropy_beyond_logits"][bench.precision], bench.begin()
    with bench.autocast():
        loss = bench.F.cross_entropy(logits.view(-1, classes), target)
    assert (bench.alive() - before) / logits.numel() == pytest.approx(wanted["kept"], abs=0.01)
    assert bench.peak(before) / logits.numel() == pytest.approx(wanted["forward"], abs=0.01)
    after = bench.begin()
    loss.backward()
    assert (bench.peak(after) + after - before) / logits.numel() == pytest.approx(wanted["backward"], abs=0.01)
