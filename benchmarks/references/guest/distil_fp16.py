import torch
from torch.utils.data import DataLoader
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer

BATCH_SIZE = 32
MAX_LENGTH = 512
device = torch.device("cuda")

model = AutoModelForSequenceClassification.from_pretrained("distilbert-base-uncased", num_labels=2)
scaler = torch.cuda.amp.GradScaler()
model.to(device)
model.train()
tokenizer = AutoTokenizer.from_pretrained("distilbert-base-uncased")
ds = load_dataset("imdb", split="train").rename_column("label", "labels")
ds = ds.map(lambda e: tokenizer(e["text"], truncation=True, padding="max_length", max_length=MAX_LENGTH), batched=True)
ds.set_format("torch", columns=["input_ids", "labels"])
loader = DataLoader(ds, batch_size=BATCH_SIZE, shuffle=True, num_workers=4)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)

for epoch in range(3):
    for step, batch in enumerate(loader):
        batch = {k: v.to(device) for k, v in batch.items()}
        with torch.autocast("cuda", dtype=torch.float16):
            outputs = model(**batch)
            loss = outputs.loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
