"""Scripts of families beside decoders: their peaks and parameters against runs of the libraries' own code on fake CUDA tensors."""

from __future__ import annotations

import json

import pytest

from analysis.snapshot import Snapshot
from estimator.request import Request
from estimator.run import estimate
from tests.estimator.script.running import estimated

LOOP = """
optimizer = {optimizer}
for batch in loader:
    {move}
    {loss}
    loss.backward(); optimizer.step(); optimizer.zero_grad()
"""
TEXTS = """
import torch
from datasets import load_dataset
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained("{name}")
model = AutoModelForSeq2SeqLM.from_pretrained("{name}").cuda().train()
def encode(row):
    features = tokenizer(row["article"], truncation=True, padding="max_length", max_length=512)
    features["labels"] = tokenizer(text_target=row["highlights"], truncation=True, padding="max_length", max_length=128)["input_ids"]
    return features
rows = load_dataset("cnn_dailymail", split="train").map(encode)
rows.set_format("torch", columns=["input_ids", "labels"])
loader = torch.utils.data.DataLoader(rows, batch_size=8)
"""
PICTURES = """
import timm, torch, torchvision
from torchvision import datasets, transforms
sized = transforms.Compose([transforms.RandomResizedCrop({size}), transforms.ToTensor()])
loader = torch.utils.data.DataLoader(datasets.ImageFolder("data", sized), batch_size={batch})
model = {model}.cuda()
"""
ADAMW, SGD = "torch.optim.AdamW(model.parameters())", "torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)"
OF_TEXTS = {"move": "batch = {k: v.cuda() for k, v in batch.items()}"}
OF_PICTURES = {"move": "x, y = batch[0].cuda(), batch[1].cuda()"}
AUTOCAST = "with torch.autocast('cuda', dtype=torch.bfloat16): "
CLASSIFIED = "out = model(x); loss = torch.nn.functional.cross_entropy(out, y)"
MIXED = AUTOCAST + CLASSIFIED
LABELLED = "out = model(**batch); loss = out.loss"

#: Script, peak in bytes, parameters: rows made from the libraries' own code, as ``zoo/families.json`` says.
ROWS = {
    "t5": (TEXTS.format(name="t5-base") + LOOP.format(optimizer=ADAMW, loss=AUTOCAST + LABELLED, **OF_TEXTS), 6946537984, 222903552),
    "bart": (TEXTS.format(name="facebook/bart-base") + LOOP.format(optimizer=ADAMW, loss=LABELLED, **OF_TEXTS), 4367227392, 139420416),
    "densenet": (
        PICTURES.format(size=224, batch=32, model="torchvision.models.densenet121()") + LOOP.format(optimizer=SGD, loss=CLASSIFIED, **OF_PICTURES),
        4305773568, 7978856,
    ),
    "convnext": (
        PICTURES.format(size=224, batch=64, model="torchvision.models.convnext_tiny()") + LOOP.format(optimizer=ADAMW, loss=MIXED, **OF_PICTURES),
        4395989504, 28589128,
    ),
    "timm": (
        PICTURES.format(size=384, batch=32, model="timm.create_model('vit_base_patch16_384')")
        + LOOP.format(optimizer=ADAMW, loss=MIXED, **OF_PICTURES),
        7726785536, 86859496,
    ),
    "efficientnet": (
        PICTURES.format(size=380, batch=16, model="torchvision.models.efficientnet_b4()") + LOOP.format(optimizer=ADAMW, loss=MIXED, **OF_PICTURES),
        5594567168, 19341616,
    ),
}  # fmt: skip


@pytest.mark.parametrize("family", ROWS)
def test_a_familys_script_is_resolved_and_right(family):
    text, peak, parameters = ROWS[family]
    memory = estimated(text).memory
    assert memory is not None
    assert memory.parameters == parameters
    assert memory.allocated_bytes == pytest.approx(peak, rel=0.005)
    assert memory.allocated_interval.low <= peak <= memory.allocated_interval.high


TRAINED = """
import torch
from transformers import AutoModelForSequenceClassification
model = AutoModelForSequenceClassification.from_pretrained("checkpoint").cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(4):
    ids = torch.zeros((2, 32), dtype=torch.long, device="cuda")
    loss = model(input_ids=ids, labels=torch.zeros(2, dtype=torch.long, device="cuda")).loss
    loss.backward(); optimizer.step(); optimizer.zero_grad()
"""


@pytest.mark.parametrize(("kind", "resolved"), [("deberta-v2", True), ("xlm-roberta", True), ("resnet", False), ("mamba", False)])
def test_a_written_configuration_is_of_a_family_of_its_library(kind, resolved):
    numbers = {"model_type": kind, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100}
    files = {"train.py": TRAINED.encode(), "checkpoint/config.json": json.dumps(numbers).encode()}
    (found,) = estimate(Snapshot.of(files), Request(entry="train.py"))
    assert (found.memory is not None) is resolved


def test_an_unknown_model_of_timm_is_said():
    found = estimated(
        PICTURES.format(size=224, batch=8, model="timm.create_model('crossvit_9_240')") + LOOP.format(optimizer=SGD, loss=CLASSIFIED, **OF_PICTURES)
    )
    assert found.memory is None
    assert any("crossvit_9_240 of timm is not modelled yet" in sentence for sentence in found.unknowns)
