"""The losses that models compute when they are given labels.

Mirrors transformers 5.24.0: the causal loss looks at logits in float32, which is a copy of 4 bytes a logit where they are not; the
masked and the classification loss of BERT and RoBERTa do not.
"""

import torch
from torch import nn


def causal_lm_loss(logits, labels, vocab_size, num_items_in_batch=None, shift_labels=None):
    logits = logits.float()
    targets = shift_labels
    if targets is None:
        labels = nn.functional.pad(labels, (0, 1), value=-100)
        targets = labels[..., 1:].contiguous()
    logits = logits.view(-1, vocab_size)
    targets = targets.view(-1)
    if num_items_in_batch is None:
        return nn.functional.cross_entropy(logits, targets, ignore_index=-100, reduction="mean")
    return nn.functional.cross_entropy(logits, targets, ignore_index=-100, reduction="sum") / num_items_in_batch


def token_loss(logits, labels, classes):
    return nn.CrossEntropyLoss()(logits.view(-1, classes), labels.view(-1))


def classification_loss(config, logits, labels):
    if config.problem_type is None:
        config.problem_type = "regression" if config.num_labels == 1 else "single_label_classification"
    if config.problem_type == "single_label_classification":
        return token_loss(logits, labels, config.num_labels)
    if config.problem_type == "multi_label_classification":
        return nn.BCEWithLogitsLoss()(logits, labels)
    if config.num_labels == 1:
        return nn.MSELoss()(logits.squeeze(), labels.squeeze())
    return nn.MSELoss()(logits, labels)


def last_tokens(config, logits, input_ids):
    """The scores of each sequence's last token that is not padding, where the configuration says what padding is.

    Second what it took to find them, which the library's classifiers hold until they return.
    """
    present = places = None
    last = -1
    if config.pad_token_id is not None and input_ids is not None:
        present = (input_ids != config.pad_token_id).to(torch.int32)
        places = torch.arange(input_ids.shape[-1], device=logits.device, dtype=torch.int32)
        last = (places * present).argmax(-1)
    return logits[torch.arange(logits.shape[0], device=logits.device), last], (present, places, last)
