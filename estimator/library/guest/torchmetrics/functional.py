"""Metrics of ``torchmetrics`` as functions: one number each."""

import torch


def number(*args, **options):
    return torch.zeros(())


NAMES = """
accuracy auroc average_precision calibration_error cohen_kappa confusion_matrix f1_score fbeta_score jaccard_index precision recall specificity stat_scores
mean_squared_error mean_absolute_error r2_score pearson_corrcoef spearman_corrcoef cosine_similarity peak_signal_noise_ratio
structural_similarity_index_measure dice perplexity word_error_rate char_error_rate bleu_score
""".split()
globals().update({name: number for name in NAMES})
