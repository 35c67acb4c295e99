"""A training step of a family holds what the library's own holds, to the byte, and its parameters have the library's names and shapes.

``families.json`` says how its rows were made.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from estimator import zoo
from estimator.tape.run import Tape
from tests.estimator.tape.native import Library
from tests.estimator.zoo.test_blocks import held

ROWS = json.loads(Path(__file__).with_name("families.json").read_text(encoding="utf-8"))["rows"]
LIBRARY = Library()
#: A fused attention kernel keeps the seed and the offset of its random numbers, 512 bytes each; the tape does not count them.
KERNEL_STATE = 1024
#: The tiny sum of a loss may be counted a moment earlier or later.
GRANULE = 512
#: A copy that autocast makes and drops within one operation may be counted at the peak or just beside it.
TRANSIENT_SHARE = 0.002


def built(row, torch, low):
    """The model of a row, on the device and in its precision."""
    module = LIBRARY.load(f"{zoo.PACKAGE}.{row['family']}")
    attention = {"attn_implementation": row["attention"]} if "attention" in row else {}
    torch.set_default_dtype(low)
    config = getattr(module, zoo.family(row["family"]).config)(**row["config"], **attention)
    model = getattr(module, row["class"])(config).to("cuda")
    torch.set_default_dtype(torch.float32)
    model.train()
    if row["checkpointing"] and hasattr(model, "enable_gradient_checkpointing"):
        model.enable_gradient_checkpointing()
    elif row["checkpointing"]:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False, "preserve_rng_state": False})
    return model


def loss_of(row, torch, model, batch):
    """The outputs, which stay alive until backward, and the loss."""
    functional = torch.nn.functional
    match row["loss"]:
        case "labels":
            outputs = model(**batch, **({"return_loss": True} if row["family"] == "clip" else {}))
            return outputs, outputs.loss
        case "mse":
            outputs = model(**{name: value for name, value in batch.items() if name != "target"}).sample
            return outputs, functional.mse_loss(outputs.float(), batch["target"].float())
        case "autoencoding":
            outputs = model(**batch, sample_posterior=True, return_dict=False)[0]
            return outputs, functional.mse_loss(outputs, batch["sample"])
        case "mean":
            outputs = model(**batch).sample
            return outputs, outputs.float().mean()
        case "control":
            states, middle = model(**batch, return_dict=False)
            return (states, middle), sum([state.float().mean() for state in states]) + middle.float().mean()
        case "projected":
            outputs = model(**batch, output_hidden_states=True)
            return outputs, outputs.text_embeds.float().mean() + outputs.hidden_states[-2].float().mean()
        case "out":
            outputs = model(batch["x"])
            loss = functional.cross_entropy(outputs["out"], batch["y"])
            return outputs, loss + 0.4 * functional.cross_entropy(outputs["aux"], batch["y"]) if "aux" in outputs else loss + 0.0
    outputs = model(batch["x"])
    return outputs, functional.cross_entropy(outputs, batch["y"])


def step(row):
    """The bytes of one step, and the model's parameters."""
    tape = Tape()
    tape.number = lambda _: 1.0
    tape.workspaces = {True, False}  # the rows leave the matrix library's workspaces out
    with tape.active():
        torch = LIBRARY.load("torch")
        low = torch.bfloat16 if row["precision"] == "bf16" else torch.float32
        model = built(row, torch, low)
        dtypes = {"float": low, "int64": torch.int64}
        batch = {name: torch.empty(tuple(shape), dtype=dtypes[dtype], device="cuda") for name, (shape, dtype) in row["inputs"].items()}
        before, _ = held(tape)
        start = len(tape.events)
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=row["precision"] == "amp-bf16"):
            outputs, loss = loss_of(row, torch, model, batch)
        kept, peak = held(tape, start)
        loss.backward()
        after, _ = held(tape)
        assert outputs is not None
        names = [[name, list(parameter.shape)] for name, parameter in model.named_parameters()]
        count = sum(parameter.numel() for parameter in model.parameters())
    return {"kept": kept - before, "forward_peak": peak - before, "after_backward": after - before}, names, count


def name(row):
    parts = [row["class"], row["precision"], row.get("attention", ""), "checkpointed" if row["checkpointing"] else ""]
    return "-".join(part for part in parts if part)


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_a_step_holds_what_the_librarys_holds(row):
    found, names, count = step(row)
    assert count == row["parameters"]
    assert hashlib.sha256(json.dumps(names).encode()).hexdigest()[:16] == row["names"]
    assert found["after_backward"] == row["after_backward"]
    kept, peak = (row[moment] - found[moment] - KERNEL_STATE * row["fused_attentions"] for moment in ("kept", "forward_peak"))
    assert kept == 0
    assert abs(peak) <= max(GRANULE, TRANSIENT_SHARE * row["forward_peak"])
