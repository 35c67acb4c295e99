import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

model = AutoModelForCausalLM.from_pretrained("mistralai/Mistral-7B-v0.1", torch_dtype=torch.float16).to("cuda")
tok = AutoTokenizer.from_pretrained("mistralai/Mistral-7B-v0.1")
batch = tok(texts[:4], return_tensors="pt", max_length=1024, padding="max_length", truncation=True).to("cuda")
out = model.generate(**batch, max_new_tokens=512, do_sample=True)
