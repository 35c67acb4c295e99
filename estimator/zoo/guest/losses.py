"""The losses that models compute when they are given labels.

Mirrors transformers 5.24.0: the causal loss looks at logits in float32, which is a copy of 4 bytes a logit where they are not; the
masked and the classification loss of BERT and RoBERTa do not.
"""

from torch import nn


def causal_lm_loss(logits, labels, vocab_size, num_items_in_batch=None):
    logits = logits.float()
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
