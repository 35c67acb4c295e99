"""The library's collators: rows of tokens put together into tensors as long as the longest."""

import torch
from preflight_host import Tokens, tokens_as_tensor
from torch.utils.data import default_collate
from transformers.tokenizer import BatchEncoding


def column(value, rows, length):
    """The tensor of one column."""
    if isinstance(value, Tokens):
        return tokens_as_tensor(value if length is None else Tokens(length), rows)
    if isinstance(value, torch.Tensor):
        return torch.stack([value] * rows)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], (int, float)):
        return torch.zeros((rows, len(value)), dtype=torch.long if isinstance(value[0], int) else torch.float)
    return default_collate([value] * rows)


def padded(tokenizer, samples, length=None):
    """Every column of the samples as a tensor; ``label`` is called ``labels`` then."""
    if isinstance(samples, (list, tuple)):
        rows, first = len(samples), samples[0]
    else:
        rows, first = len(samples["input_ids"]), {name: values[0] for name, values in samples.items()}
    if isinstance(first, Tokens):
        first = {"input_ids": first}
    batch = {}
    for name in first.keys():
        value = first[name]
        if isinstance(value, str) or value is None:
            continue
        batch["labels" if name in ("label", "label_ids") else name] = column(value, rows, length)
    return BatchEncoding(batch)


class DataCollatorForLanguageModeling:
    def __init__(self, tokenizer=None, mlm=True, mlm_probability=0.15, pad_to_multiple_of=None, return_tensors="pt", **options):
        self.tokenizer = tokenizer
        self.mlm = mlm

    def __call__(self, samples, return_tensors=None):
        batch = padded(self.tokenizer, samples)
        batch["labels"] = batch["input_ids"].clone()
        return batch


class DataCollatorForPermutationLanguageModeling:
    """Beside the tokens: which of them sees which, and which are to be told."""

    def __init__(self, tokenizer=None, **options):
        self.tokenizer = tokenizer

    def __call__(self, samples, return_tensors=None):
        tokens = padded(self.tokenizer, samples)["input_ids"]
        pairs = (*tokens.shape, tokens.shape[1])
        return {"input_ids": tokens, "perm_mask": torch.zeros(pairs), "target_mapping": torch.zeros(pairs), "labels": tokens.clone()}


class DataCollatorWithPadding:
    def __init__(self, tokenizer=None, padding=True, max_length=None, pad_to_multiple_of=None, return_tensors="pt"):
        self.tokenizer = tokenizer
        self.length = max_length if padding == "max_length" else None

    def __call__(self, samples, return_tensors=None):
        return padded(self.tokenizer, samples, self.length)


class DataCollatorForTokenClassification(DataCollatorWithPadding):
    def __init__(self, tokenizer=None, padding=True, max_length=None, **options):
        super().__init__(tokenizer, padding, max_length)


class DataCollatorForSeq2Seq(DataCollatorWithPadding):
    def __init__(self, tokenizer=None, model=None, padding=True, max_length=None, **options):
        super().__init__(tokenizer, padding, max_length)


class DataCollatorForMultipleChoice(DataCollatorWithPadding):
    """Every sample has a row for each choice."""

    def __call__(self, samples, return_tensors=None):
        choices = len(samples[0]["input_ids"])
        batch = {}
        for name, value in samples[0].items():
            if isinstance(value, list):
                rows = column(value[0], len(samples) * choices, self.length)
                batch[name] = rows.view(len(samples), choices, *rows.shape[1:])
            elif not isinstance(value, str):
                batch["labels" if name in ("label", "label_ids") else name] = column(value, len(samples), self.length)
        return BatchEncoding(batch)


def default_data_collator(samples, return_tensors="pt"):
    return dict(padded(None, samples))


class DefaultDataCollator:
    def __init__(self, return_tensors="pt"):
        pass

    def __call__(self, samples, return_tensors=None):
        return default_data_collator(samples)
