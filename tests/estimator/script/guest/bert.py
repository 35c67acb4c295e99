"""A classifier of texts, its batch padded by a collator to a length that the texts were cut at."""

import torch
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, default_data_collator

config = {"batch": 16, "max_length": 512}
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
rows = load_dataset("imdb", split="train").map(
    lambda row: tokenizer(row["text"], truncation=True, padding="max_length", max_length=config["max_length"]), batched=True, remove_columns=["text"]
)
loader = torch.utils.data.DataLoader(rows, batch_size=config["batch"], collate_fn=default_data_collator)
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=2).cuda().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)
for batch in loader:
    batch = {name: tensor.cuda() for name, tensor in batch.items()}
    with torch.autocast("cuda", dtype=torch.bfloat16):
        outputs = model(**batch)
        loss = outputs.loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
