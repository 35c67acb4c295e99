"""Models, adapters, wrappers and loops that libraries bring along give no false findings."""

import pytest

from analysis.engine import analyse
from analysis.finding import Confidence, Severity
from analysis.rule import discover
from analysis.snapshot import Snapshot


def found(program, rule, severity=None):
    """The lines of what a rule shows, or of that severity alone."""
    report = analyse(Snapshot.of({"train.py": program.encode()}), [each for each in discover() if each.name == rule])
    shown = [each for each in report.findings if each.confidence >= Confidence.MEDIUM and severity in {None, each.severity}]
    return [program.encode()[: each.span.start].count(b"\n") + 1 for each in shown]


FREEZING = """
import torch
from peft import get_peft_model
from transformers import AutoModelForCausalLM, Trainer

def frozen(model):
    for _, param in model.named_parameters():
        param.requires_grad = False
    return model

model = AutoModelForCausalLM.from_pretrained("gpt2")
{then}
trainer = Trainer(model=model)
trainer.train()
"""
QUANTIZED = """
if getattr(model, "is_loaded_in_4bit", False) or getattr(model, "is_loaded_in_8bit", False):
    model = frozen(model)
"""


@pytest.mark.parametrize(
    ("then", "lines"),
    [
        ("model = frozen(model)", [14]),
        ("model = get_peft_model(frozen(model), config)", []),
        ("model = get_peft_model(model=frozen(model), peft_config=config)", []),
        (QUANTIZED, []),
    ],
)
def test_a_frozen_model_with_adapters_trains_and_whole_weights_are_not_quantized(then, lines):
    assert found(FREEZING.format(then=then), "frozen-by-mistake") == lines


TWO_OPTIMIZERS = """
import importlib
import lightning as L
import torch

def built(config):
    return getattr(importlib.import_module(config["module"]), config["name"])(**config)

class Coder(L.LightningModule):
    def __init__(self, config):
        super().__init__()
        self.encoder = torch.nn.Linear(8, 8)
        self.loss = built(config)

    def training_step(self, batch, batch_idx, optimizer_idx):
        loss, logged = self.loss(self.encoder(batch), batch, optimizer_idx)
        return loss

    def configure_optimizers(self):
        return [torch.optim.Adam(self.encoder.parameters()), torch.optim.Adam(self.loss.critic.parameters())], []
"""


def test_a_loss_that_is_not_followed_may_hold_a_critic():
    assert found(TWO_OPTIMIZERS, "step-without-backward") == []


WRAPPED = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from transformers import AutoModelForCausalLM, Trainer

dist.init_process_group("nccl")
model = DistributedDataParallel(AutoModelForCausalLM.from_pretrained("gpt2"))
with torch.no_grad():
    model(torch.zeros(1))
{then}
"""
BY_HAND = """
optimizer = torch.optim.AdamW(model.parameters())
for batch in loader:
    optimizer.zero_grad()
    model.module(batch).loss.backward()
    optimizer.step()
"""

SCALED = BY_HAND.replace("model.module(batch).loss", "model.module.scale(model(batch).loss)")
PART = BY_HAND.replace("model.module(batch).loss", "model.module.scaler.apply(batch)")


@pytest.mark.parametrize(("then", "lines"), [("Trainer(model=model.module, train_dataset=data).train()", []), (BY_HAND, [15]), (SCALED, []), (PART, [])])
def test_a_trainer_wraps_the_model_that_it_is_given(then, lines):
    assert found(WRAPPED.format(then=then), "ddp-forward-bypass") == lines


JUDGED = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("nccl")
maker, judge = DistributedDataParallel(torch.nn.Linear(4, 4)), DistributedDataParallel(torch.nn.Linear(4, 1))
makes, judges = torch.optim.Adam(maker.parameters()), torch.optim.Adam(judge.parameters())
for x in torch.utils.data.DataLoader(torch.load("data.pt"), 8):
    made = maker(torch.randn(8, 4))
    makes.zero_grad()
    judge.module(made).mean().backward()
    makes.step()
    {cleared}
    (judge(x) - judge(made.detach())).mean().backward()
    judges.step()
    judges.zero_grad()
"""


@pytest.mark.parametrize(("cleared", "lines"), [("judges.zero_grad()", []), ("pass", [12])])
def test_gradients_that_are_cleared_before_the_step_need_no_average(cleared, lines):
    assert found(JUDGED.format(cleared=cleared), "ddp-forward-bypass") == lines


KEPT = """
import torch

def train(model, loader, device, config):
    table = {table}
    optimizer = torch.optim.SGD(model.to(device).parameters(), lr=0.1)
    for x in loader:
        optimizer.zero_grad()
        (model(x.to(device)) * table.to(device)).mean().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("table", "severity"),
    [
        ("torch.tensor([0.2, 0.8])", Severity.NOTICE),
        ("torch.tensor(config.weights, dtype=torch.float32)", Severity.NOTICE),
        ("torch.ones(3)", Severity.NOTICE),
        ("torch.ones(3).repeat(1000)", Severity.WARNING),
        ("torch.ones(512, 512)", Severity.WARNING),
        ("torch.linspace(0, 1, config.steps)", Severity.WARNING),
    ],
)
def test_a_handful_of_numbers_is_worth_a_notice(table, severity):
    program = KEPT.format(table=table)
    assert found(program, "repeated-transfer", severity) == found(program, "repeated-transfer") == [9]


MEASURED = """
import evaluate
import torch
from accelerate import Accelerator

accelerator = Accelerator(log_with="wandb")
metric = evaluate.load("wer"{options})
model, loader, validation = accelerator.prepare(torch.nn.Linear(8, 8), torch.utils.data.DataLoader(data), torch.utils.data.DataLoader(held_out))
optimizer = accelerator.prepare(torch.optim.AdamW(model.parameters()))
for batch in loader:
    accelerator.backward(model(batch).mean())
    optimizer.step()
    optimizer.zero_grad()
model.eval()
predictions = []
with torch.no_grad():
    for batch in validation:
        predictions.extend({predicted}.cpu().numpy())
accelerator.log({{"wer": metric.compute(predictions=predictions)}})
"""


@pytest.mark.parametrize(
    ("options", "predicted", "lines"),
    [
        ("", "model(batch).argmax(-1)", [19]),
        ("", "accelerator.gather_for_metrics(model(batch).argmax(-1))", []),
        (', num_process=2, process_id=0, experiment_id="run"', "model(batch).argmax(-1)", []),
    ],
)
def test_evaluate_knows_what_one_rank_gave_it(options, predicted, lines):
    assert found(MEASURED.format(options=options, predicted=predicted), "local-metric") == lines


SAVED = """
import torch
from accelerate import Accelerator

def main(args, data):
    accelerator = Accelerator(gradient_accumulation_steps=args.window)
    model, loader = accelerator.prepare(torch.nn.Linear(8, 8), torch.utils.data.DataLoader(data))
    optimizer = accelerator.prepare(torch.optim.AdamW(model.parameters()))
    steps = 0
    for batch in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(batch).mean())
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            steps += 1
            if accelerator.is_main_process:
                if steps % 500 == 0:
                    accelerator.save_state("last")
"""


def test_what_is_saved_every_now_and_then_is_rehearsed():
    assert found(SAVED, "guarded-sharded-save") == [19]


NAMED = """
import torch

model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in loader:
    optimizer.zero_grad()
    torch.mean(input=model(x)).backward()
    optimizer.step()
"""


def test_an_operation_may_be_given_everything_by_name():
    report = analyse(Snapshot.of({"train.py": NAMED.encode()}), [each for each in discover() if each.name == "detached-loss"])
    assert (report.findings, report.problems) == ((), ())
