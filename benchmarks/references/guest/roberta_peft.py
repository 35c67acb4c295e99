import torch
from torch.utils.data import DataLoader
from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer

BATCH_SIZE = 16
MAX_LENGTH = 256
device = torch.device("cuda")
from peft import LoraConfig, get_peft_model, TaskType

model = AutoModelForSequenceClassification.from_pretrained("roberta-large", torch_dtype=torch.bfloat16)
model = get_peft_model(model, LoraConfig(task_type=TaskType.SEQ_CLS, r=16, lora_alpha=32, lora_dropout=0.1, target_modules=["query", "value"]))
model.to(device)
model.train()
tokenizer = AutoTokenizer.from_pretrained("roberta-large")
ds = load_dataset("imdb", split="train").rename_column("label", "labels")
ds = ds.map(lambda e: tokenizer(e["text"], truncation=True, padding="max_length", max_length=MAX_LENGTH), batched=True)
ds.set_format("torch", columns=["input_ids", "labels"])
loader = DataLoader(ds, batch_size=BATCH_SIZE, shuffle=True, num_workers=4)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-5)

for epoch in range(3):
    for step, batch in enumerate(loader):
        batch = {k: v.to(device) for k, v in batch.items()}
        outputs = model(**batch)
        loss = outputs.loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
