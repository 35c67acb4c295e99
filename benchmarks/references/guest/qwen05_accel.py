from itertools import chain

import torch
from accelerate import Accelerator
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM, AutoTokenizer, default_data_collator

block_size = 1024
accelerator = Accelerator(mixed_precision="bf16")
tokenizer = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-0.5B")
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-0.5B")


def group_texts(examples):
    joined = {k: list(chain(*examples[k])) for k in examples}
    total = len(joined["input_ids"]) // block_size * block_size
    result = {k: [t[i : i + block_size] for i in range(0, total, block_size)] for k, t in joined.items()}
    result["labels"] = result["input_ids"].copy()
    return result


raw = load_dataset("wikitext", "wikitext-103-raw-v1", split="train")
train_ds = raw.map(lambda e: tokenizer(e["text"]), batched=True, remove_columns=["text"]).map(group_texts, batched=True)
loader = DataLoader(train_ds, batch_size=4, shuffle=True, collate_fn=default_data_collator)
opt = torch.optim.AdamW(model.parameters(), lr=1e-5)
model, opt, loader = accelerator.prepare(model, opt, loader)
for batch in loader:
    loss = model(**batch).loss
    accelerator.backward(loss)
    opt.step()
    opt.zero_grad()
