"""Distributed autograd: gradients of a pass are those of its context; here they are where they always are."""

import torch


class context:
    def __enter__(self):
        return 1

    def __exit__(self, *exception):
        pass


def backward(context_id, roots, retain_graph=False):
    for root in roots:
        root.backward(retain_graph=retain_graph)


def get_gradients(context_id):
    return {torch.zeros(1, device="cpu"): torch.zeros(1, device="cpu")}
