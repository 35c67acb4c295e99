import torch
from torch.utils.data import DataLoader
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer

BATCH_SIZE = 8
MAX_LENGTH = 1024
device = torch.device("cuda")

model = AutoModelForCausalLM.from_pretrained("gpt2")

model.to(device)
model.train()
tokenizer = AutoTokenizer.from_pretrained("gpt2")
ds = load_dataset("wikitext", "wikitext-2-raw-v1", split="train")
ds = ds.map(lambda e: tokenizer(e["text"], truncation=True, padding="max_length", max_length=MAX_LENGTH), batched=True)
ds.set_format("torch", columns=["input_ids"])
loader = DataLoader(ds, batch_size=BATCH_SIZE, shuffle=True, num_workers=4)
optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, fused=True)

for epoch in range(3):
    for step, batch in enumerate(loader):
        batch = {k: v.to(device) for k, v in batch.items()}
        with torch.autocast("cuda", dtype=torch.bfloat16):
            outputs = model(**batch, labels=batch["input_ids"])
            loss = outputs.loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
