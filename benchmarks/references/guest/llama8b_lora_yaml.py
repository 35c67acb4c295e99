import torch
import yaml
from datasets import load_dataset
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer, DataCollatorForLanguageModeling, Trainer, TrainingArguments

with open("llama8b_lora.yaml") as f:
    cfg = yaml.safe_load(f)
tokenizer = AutoTokenizer.from_pretrained(cfg["model"]["name"])
model = AutoModelForCausalLM.from_pretrained(cfg["model"]["name"], torch_dtype=torch.bfloat16)
model = get_peft_model(model, LoraConfig(**cfg["lora"]))
model.gradient_checkpointing_enable()
model.enable_input_require_grads()


def encode(example):
    return tokenizer(example["text"], truncation=True, padding="max_length", max_length=cfg["model"]["max_seq_len"])


ds = load_dataset("json", data_files="train.jsonl", split="train").map(encode)
args = TrainingArguments(output_dir="o", **cfg["train"])
Trainer(model=model, args=args, train_dataset=ds, data_collator=DataCollatorForLanguageModeling(tokenizer, mlm=False)).train()
