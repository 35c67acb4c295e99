import torch
from torch.utils.data import DataLoader
from datasets import load_dataset
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

BATCH_SIZE = 8
MAX_LENGTH = 512
MAX_TARGET_LENGTH = 128
device = torch.device("cuda")

model = AutoModelForSeq2SeqLM.from_pretrained("t5-base")

model.to(device)
model.train()
tokenizer = AutoTokenizer.from_pretrained("t5-base")
ds = load_dataset("cnn_dailymail", "3.0.0", split="train")


def encode(example):
    features = tokenizer(example["article"], truncation=True, padding="max_length", max_length=MAX_LENGTH)
    features["labels"] = tokenizer(text_target=example["highlights"], truncation=True, padding="max_length", max_length=MAX_TARGET_LENGTH)["input_ids"]
    return features


ds = ds.map(encode)
ds.set_format("torch", columns=["input_ids", "labels"])
loader = DataLoader(ds, batch_size=BATCH_SIZE, shuffle=True, num_workers=4)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)

for epoch in range(3):
    for step, batch in enumerate(loader):
        batch = {k: v.to(device) for k, v in batch.items()}
        with torch.autocast("cuda", dtype=torch.bfloat16):
            outputs = model(**batch)
            loss = outputs.loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
