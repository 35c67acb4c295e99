"""A published model in a plain loop, its texts cut and padded by a tokenizer."""

import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoTokenizer, GPT2LMHeadModel

MAX_LENGTH = 1024
tokenizer = AutoTokenizer.from_pretrained("gpt2")
tokenizer.pad_token = tokenizer.eos_token


def encode(rows):
    return tokenizer(rows["text"], truncation=True, padding="max_length", max_length=MAX_LENGTH)


texts = load_dataset("wikitext", "wikitext-2-raw-v1", split="train").map(encode, batched=True, remove_columns=["text"])
texts.set_format(type="torch", columns=["input_ids"])
loader = DataLoader(texts, batch_size=8, shuffle=True)
model = GPT2LMHeadModel.from_pretrained("gpt2").to("cuda")
model.train()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
for batch in loader:
    ids = batch["input_ids"].to("cuda")
    with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
        outputs = model(ids, labels=ids)
    outputs.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
