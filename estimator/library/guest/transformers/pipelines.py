"""``pipeline``. Mirrors transformers 5.24.0: a tokenizer and a model that are called on batches of texts."""

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class TextGenerationPipeline:
    def __init__(self, model, tokenizer, device):
        self.model = model
        self.tokenizer = tokenizer
        self.device = device

    def __call__(self, texts, batch_size=1, max_new_tokens=None, truncation=None, max_length=None, **options):
        count = len(texts) if isinstance(texts, (list, tuple)) else 1
        rows = min(batch_size, count)
        encoded = self.tokenizer(["a text"] * rows, padding=True, truncation=truncation, return_tensors="pt")
        encoded = encoded.to(self.device)
        options = {name: value for name, value in options.items() if name in ("num_beams", "num_return_sequences", "use_cache")}
        self.model.generate(input_ids=encoded["input_ids"], max_new_tokens=256 if max_new_tokens is None else max_new_tokens, **options)
        return [[{"generated_text": "a text"}]] * count


def pipeline(task, model=None, tokenizer=None, device=None, device_map=None, dtype=None, torch_dtype=None, model_kwargs=None, **options):
    from preflight_host import not_modelled

    if task != "text-generation":
        return not_modelled("the pipeline for " + task)
    place = torch.device("cuda")
    if isinstance(model, str):
        name, wanted = model, dtype if dtype is not None else torch_dtype
        given = dict(model_kwargs) if model_kwargs is not None else {}
        if wanted is not None:
            given["dtype"] = wanted
        model = AutoModelForCausalLM.from_pretrained(name, **given)
        tokenizer = AutoTokenizer.from_pretrained(name) if tokenizer is None or isinstance(tokenizer, str) else tokenizer
    model.eval()
    return TextGenerationPipeline(model.to(place), tokenizer, place)
