"""What a block of the zoo keeps for backward is what the library's own block keeps, in every precision and to the byte.

``blocks.json`` says how its rows were made. Each was measured with one block and with two: their difference is what a block keeps.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from estimator import zoo
from estimator.tape.events import Allocated, Freed
from estimator.tape.run import Tape
from tests.estimator.tape.native import Library

RECORDED = json.loads(Path(__file__).with_name("blocks.json").read_text(encoding="utf-8"))
BATCH, LENGTH, IMAGE = RECORDED["batch"], RECORDED["length"], RECORDED["image"]

LIBRARY = Library()

#: A fused attention kernel keeps the seed and the offset of its random numbers, 512 bytes each; the tape does not count them.
KERNEL_STATE = 1024


def held(tape: Tape, since: int = 0) -> tuple[int, int]:
    """Bytes alive now, and the most that was alive after event ``since``."""
    sizes: dict[int, int] = {}
    total = peak = 0
    for index, event in enumerate(tape.events):
        match event:
            case Allocated(key, size):
                sizes[key] = size
                total += size
            case Freed(key):
                total -= sizes.pop(key)
        if index >= since:
            peak = max(peak, total)
    return total, peak


class Step:
    """One forward and backward of one model on the tape."""

    def __init__(self, row: dict, config: dict) -> None:
        self.row, self.config = row, config
        self.tape = Tape()
        self.tape.number = lambda _: 1.0
        # The rows leave the matrix library's workspaces out.
        self.tape.workspaces = {True, False}
        self.torch = LIBRARY

    def measure(self) -> dict[str, int]:
        torch = self.torch.load("torch")
        low = torch.bfloat16 if self.row["precision"] == "bf16" else torch.float32
        model = self.model(torch, low)
        images = self.row["family"] == "resnet"
        x = torch.empty((BATCH, 3, IMAGE, IMAGE), dtype=low, device="cuda") if images else torch.empty((BATCH, LENGTH), dtype=torch.int64, device="cuda")
        by_sequence = images or "Sequence" in self.row["class"]
        labels = torch.empty((BATCH,), dtype=torch.int64, device="cuda") if by_sequence else x
        before, _ = held(self.tape)
        start = len(self.tape.events)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.row["precision"] == "amp-bf16"):
            if images:
                outputs = model(x)
                loss = torch.nn.functional.cross_entropy(outputs, labels)
            else:
                outputs = model(input_ids=x, labels=labels)
                loss = outputs.loss
        kept, forward_peak = held(self.tape, start)
        loss.backward()
        after, _ = held(self.tape)
        assert outputs is not None
        return {"kept": kept - before, "forward_peak": forward_peak - before, "after_backward": after - before}

    def model(self, torch, low):
        module = self.torch.load(f"{zoo.PACKAGE}.{self.row['family']}")
        attention = {"attn_implementation": self.row["attention"]} if self.row["attention"] else {}
        builder = "build" if self.row["family"] == "resnet" else self.row["class"]
        torch.set_default_dtype(low)
        model = getattr(module, builder)(getattr(module, zoo.family(self.row["family"]).config)(**self.config, **attention)).to("cuda")
        torch.set_default_dtype(torch.float32)
        model.train()
        if self.row["checkpointing"]:
            model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False, "preserve_rng_state": False})
        return model


def name(row: dict) -> str:
    cache = row["sizes"][0]["config"].get("use_cache", True)
    parts = [row["class"], row["precision"], row["attention"], "checkpointed" if row["checkpointing"] else "", "" if cache else "no-cache"]
    return "-".join(part for part in parts if part)


@pytest.mark.parametrize("row", RECORDED["rows"], ids=name)
def test_a_step_holds_what_the_librarys_holds(row):
    for blocks, size in enumerate(row["sizes"], start=1):
        with (step := Step(row, size["config"])).tape.active():
            found = step.measure()
        uncounted = KERNEL_STATE * blocks if row["attention"] == "sdpa" and not row["checkpointing"] else 0
        assert found["after_backward"] == size["after_backward"]
        for moment in ("kept", "forward_peak"):
            assert size[moment] - found[moment] in {0, uncounted}, moment
