"""Experts of which a router chooses a few for each token: their weights in two tensors, one grouped product for each.

Mirrors transformers 5.24.0 (``integrations/moe.py``, ``grouped_mm``, its default). Each token takes part ``top_k`` times whichever experts
are chosen, so what is held does not depend on the routing.
"""

import torch
from torch import nn


class TopKRouter(nn.Module):
    """Logits of the experts for each token, and the chosen ones with their weights."""

    def __init__(self, experts, top_k, width, normalised):
        super().__init__()
        self.top_k = top_k
        self.normalised = normalised
        self.weight = nn.Parameter(torch.empty(experts, width))

    def forward(self, x):
        x = x.reshape(-1, x.shape[-1])
        logits = nn.functional.linear(x, self.weight)
        chances = self.chances(logits)
        weights, experts = torch.topk(chances, self.top_k, dim=-1)
        if self.normalised:
            weights /= weights.sum(dim=-1, keepdim=True)
        return logits, self.in_type_of(weights, logits), experts

    def chances(self, logits):
        return nn.functional.softmax(logits.float(), dim=-1)

    def in_type_of(self, weights, logits):
        return weights


class Experts(nn.Module):
    def __init__(self, experts, width, inner):
        super().__init__()
        self.experts = experts
        self.gate_up_proj = nn.Parameter(torch.empty(experts, 2 * inner, width))
        self.down_proj = nn.Parameter(torch.empty(experts, width, inner))

    def grouped(self, x, weight, ends):
        return nn.functional.grouped_mm(x.to(weight.dtype), weight.transpose(-2, -1), offs=ends)

    def gated(self, both):
        gate, up = both.chunk(2, dim=-1)
        return nn.functional.silu(gate) * up

    def forward(self, x, experts, weights):
        times = experts.size(-1)
        tokens, width = x.size(0), x.size(-1)
        weights = weights.reshape(-1)
        sorted_experts, order = torch.sort(experts.reshape(-1))
        chosen = x[order // times]
        sorted_weights = weights[order]
        counts = torch.histc(sorted_experts.int(), bins=self.experts, min=0, max=self.experts - 1)
        ends = torch.cumsum(counts, dim=0, dtype=torch.int32)
        made = self.grouped(chosen, self.gate_up_proj, ends)
        made = self.gated(made)
        made = self.grouped(made, self.down_proj, ends)
        weighted = made * sorted_weights.unsqueeze(-1)
        back = torch.empty_like(order)
        back[order] = torch.arange(order.size(0), device=x.device)
        weighted = weighted[back]
        total = weighted.view(tokens, times, width).sum(dim=1)
        return total.to(x.dtype)


class SparseBlock(nn.Module):
    """What stands in the place of a layer's feed-forward part."""

    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, x):
        batch, length, width = x.shape
        x = x.view(-1, width)
        logits, weights, chosen = self.gate(x)
        logits = None
        x = self.experts(x, chosen, weights)
        return x.reshape(batch, length, width)
