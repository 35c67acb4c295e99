"""Trainers, accelerators and adapters: what they configure, and what they hold."""

from __future__ import annotations

import pytest

from analysis.certainty import Place
from tests.estimator.script.running import estimated, line_of

DATA = """
import torch
from datasets import load_dataset
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

tokenizer = AutoTokenizer.from_pretrained("gpt2")
rows = load_dataset("wikitext", split="train").map(lambda row: tokenizer(row["text"], truncation=True, padding="max_length", max_length=128), batched=True)
model = GPT2LMHeadModel(GPT2Config(n_layer=2, n_embd=64, n_head=2))
"""
TRAINER = f"""{DATA}
from transformers import DataCollatorForLanguageModeling, Trainer, TrainingArguments

args = TrainingArguments(
    "out",
    per_device_train_batch_size=4,
    gradient_accumulation_steps=8,
    bf16=True,
)
Trainer(model=model, args=args, train_dataset=rows, data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False)).train()
"""
ACCELERATE = f"""{DATA}
from accelerate import Accelerator

accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=2)
rows.set_format("torch", columns=["input_ids"])
loader = torch.utils.data.DataLoader(rows, batch_size=4)
optimizer = torch.optim.AdamW(model.parameters())
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for batch in loader:
    with accelerator.accumulate(model):
        loss = model(batch["input_ids"], labels=batch["input_ids"]).loss
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
"""


def test_a_trainers_arguments_are_the_configuration():
    config = estimated(TRAINER).config
    assert config.batch_size.value == 4
    assert config.batch_size.because == Place("train.py", line_of(TRAINER, "per_device_train_batch_size"))
    assert config.accumulation_steps.value == 8
    assert (config.sequence_length.value, config.precision.value, config.optimizer.value) == (128, "amp-bf16", "adamw-fused")


@pytest.mark.parametrize(
    ("argument", "field", "value"),
    [
        ("gradient_checkpointing=True", "checkpointing", True),
        ("optim='adafactor'", "optimizer", "adafactor"),
        ("optim='adamw_torch'", "optimizer", "adamw"),
        ("fp16=True", "precision", "amp-fp16"),
    ],
)
def test_a_trainer_does_what_its_arguments_say(argument, field, value):
    found = estimated(TRAINER.replace("bf16=True", argument))
    assert found.memory is not None
    assert getattr(found.config, field).value == value


def test_an_optimizer_that_nobody_knows_takes_the_number_with_it():
    found = estimated(TRAINER.replace("bf16=True", "optim='galore_adamw'"))
    assert found.memory is None
    assert any("the optimizer galore_adamw is not modelled yet" in sentence for sentence in found.unknowns)


def test_an_accelerator_accumulates_in_its_precision():
    config = estimated(ACCELERATE).config
    assert (config.precision.value, config.accumulation_steps.value, config.batch_size.value) == ("amp-bf16", 2, 4)
    assert config.precision.because == config.accumulation_steps.because == Place("train.py", line_of(ACCELERATE, "Accelerator(mixed"))


def test_an_adapter_trains_two_thin_matrices_a_layer():
    adapted = TRAINER.replace("from accelerate", "").replace(
        "args = Training", "from peft import LoraConfig, get_peft_model\nmodel = get_peft_model(model, LoraConfig(r=4))\nargs = Training", 1
    )
    found = estimated(adapted)
    assert found.memory is not None
    assert found.memory.trainable_parameters == 2 * (64 * 4 + 4 * 192)
    assert found.memory.parameters == estimated(TRAINER).memory.parameters + found.memory.trainable_parameters


def test_other_adapters_are_not_taken_for_lora():
    found = estimated(
        TRAINER.replace("args = Training", "from peft import IA3Config, get_peft_model\nmodel = get_peft_model(model, IA3Config())\nargs = Training", 1)
    )
    assert found.memory is None


def test_arguments_in_dataclasses_are_read_with_their_defaults():
    script = TRAINER.replace(
        'args = TrainingArguments(\n    "out",\n    per_device_train_batch_size=4,',
        "from dataclasses import dataclass\nfrom transformers import HfArgumentParser\n\n@dataclass\nclass Mine:\n    samples: int = 4\n\n"
        '(mine,) = HfArgumentParser(Mine).parse_args_into_dataclasses()\nargs = TrainingArguments(\n    "out",\n    per_device_train_batch_size=mine.samples,',
    )
    assert estimated(script).config.batch_size.value == 4
    assert estimated(script, settings={"samples": "2"}).config.batch_size.value == 2


def test_a_models_copy_is_held_as_well():
    script = ACCELERATE.replace("model, optimizer, loader =", "import copy\naverage = copy.deepcopy(model.cuda())\nmodel, optimizer, loader =")
    with_copy, without = estimated(script).memory, estimated(ACCELERATE).memory
    assert with_copy.components.parameters == pytest.approx(2 * without.components.parameters, rel=0.01)


SHIFTED = """
import torch
from transformers import AutoModelForCausalLM, Qwen3VLImageProcessor, AutoImageProcessor
model = AutoModelForCausalLM.from_pretrained("gpt2").cuda()
assert not isinstance(AutoImageProcessor.from_pretrained("google/vit-base-patch16-224"), Qwen3VLImageProcessor)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    ids = torch.zeros((2, 64), dtype=torch.int64, device="cuda")
    {loss}.backward()
    optimizer.step()
"""


def test_a_models_own_loss_takes_labels_that_are_shifted_already():
    inside, apart = (
        estimated(SHIFTED.format(loss=loss))
        for loss in (
            "model(input_ids=ids, labels=ids).loss",
            "model.loss_function(logits=model(input_ids=ids).logits, labels=None, shift_labels=ids, vocab_size=50257)",
        )
    )
    assert apart.unknowns == ()
    assert abs(apart.memory.allocated_bytes - inside.memory.allocated_bytes) < 1 << 20
