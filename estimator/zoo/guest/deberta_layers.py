"""The layers of DeBERTa v2 and v3. Mirrors transformers 5.24.0 (``models/deberta_v2``), as ``deberta_v2`` does.

Scores are a sum of three: of contents, of content and distance, of distance and content. No fused kernel does that.
"""

import math

import torch
from preflight_zoo.bert import ACTIVATIONS, BertResidual
from preflight_zoo.pretrained import Block
from torch import nn


def distances(config, x):
    """The distance of every pair of places, in buckets: exact when near, logarithmic when far."""
    length, most = x.size(-2), config.max_relative_positions
    rows = torch.arange(length, dtype=torch.long, device=x.device)
    columns = torch.arange(length, dtype=torch.long, device=x.device)
    found = rows[:, None] - columns[None, :]
    if config.position_buckets > 0 and most > 0:
        sign = torch.sign(found)
        middle = config.position_buckets // 2
        size = torch.where((found < middle) & (found > -middle), middle - 1, torch.abs(found))
        far = torch.ceil(torch.log(size / middle) / math.log((most - 1) / middle) * (middle - 1)) + middle
        found = torch.where(size <= middle, found.type_as(far), far * sign)
    found = found.to(torch.long)
    return found[:length, :].unsqueeze(0)


class DisentangledSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.heads = config.num_attention_heads
        self.query_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.key_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.value_proj = nn.Linear(config.hidden_size, config.hidden_size)
        if config.relative_attention:
            self.pos_dropout = nn.Dropout(config.hidden_dropout_prob)
            if not config.share_att_key:
                if "c2p" in config.pos_att_type:
                    self.pos_key_proj = nn.Linear(config.hidden_size, config.hidden_size)
                if "p2c" in config.pos_att_type:
                    self.pos_query_proj = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def by_heads(self, x):
        """(batch, length, width) as (batch * heads, length, size), copied."""
        x = x.view(x.size()[:-1] + (self.heads, -1))
        return x.permute(0, 2, 1, 3).contiguous().view(-1, x.size(1), x.size(-1))

    def forward(self, x, mask, relative, embeddings):
        query = self.by_heads(self.query_proj(x))
        key = self.by_heads(self.key_proj(x))
        value = self.by_heads(self.value_proj(x))
        kinds = 1 + ("c2p" in self.config.pos_att_type) + ("p2c" in self.config.pos_att_type)
        scale = math.sqrt(query.size(-1) * kinds)
        scores = torch.bmm(query, key.transpose(-1, -2) / scale)
        if self.config.relative_attention:
            embeddings = self.pos_dropout(embeddings)
            bias = self.of_distances(query, key, relative, embeddings, scale)
            scores = scores + bias
        scores = scores.view(-1, self.heads, scores.size(-2), scores.size(-1))
        mask = mask.bool()
        scores = scores.masked_fill(~mask, torch.finfo(query.dtype).min)
        weights = nn.functional.softmax(scores, dim=-1)
        weights = self.dropout(weights)
        attended = torch.bmm(weights.view(-1, weights.size(-2), weights.size(-1)), value)
        attended = attended.view(-1, self.heads, attended.size(-2), attended.size(-1)).permute(0, 2, 1, 3).contiguous()
        return attended.view(attended.size()[:-2] + (-1,))

    def of_distances(self, query, key, relative, embeddings, scale):
        """What the distances add to the scores; both ways look up products with every bucket."""
        relative = relative.unsqueeze(1)
        span = self.config.span
        embeddings = embeddings[0 : span * 2, :].unsqueeze(0)
        times = query.size(0) // self.heads
        kinds = self.config.pos_att_type
        if self.config.share_att_key:
            of_queries = self.by_heads(self.query_proj(embeddings)).repeat(times, 1, 1)
            of_keys = self.by_heads(self.key_proj(embeddings)).repeat(times, 1, 1)
        else:
            of_keys = self.by_heads(self.pos_key_proj(embeddings)).repeat(times, 1, 1) if "c2p" in kinds else None
            of_queries = self.by_heads(self.pos_query_proj(embeddings)).repeat(times, 1, 1) if "p2c" in kinds else None
        score = 0
        if "c2p" in kinds:
            found = torch.bmm(query, of_keys.transpose(-1, -2))
            place = torch.clamp(relative + span, 0, span * 2 - 1)
            found = torch.gather(found, dim=-1, index=place.squeeze(0).expand([query.size(0), query.size(1), relative.size(-1)]))
            score += found / scale
        if "p2c" in kinds:
            # Names of their own: what was looked up the other way stays alive until both are summed, as it does in the library.
            turned = torch.clamp(-relative + span, 0, span * 2 - 1)
            other = torch.bmm(key, of_queries.transpose(-1, -2))
            other = torch.gather(other, dim=-1, index=turned.squeeze(0).expand([query.size(0), key.size(-2), key.size(-2)])).transpose(-1, -2)
            score += other / scale
        return score


class DebertaV2Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self = DisentangledSelfAttention(config)
        self.output = BertResidual(config.hidden_size, config)

    def forward(self, x, mask, relative, embeddings):
        attended = self.self(x, mask, relative, embeddings)
        return self.output(attended, x)


class DebertaV2Intermediate(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.act = ACTIVATIONS[config.hidden_act]

    def forward(self, x):
        x = self.dense(x)
        x = self.act(x)
        return x


class DebertaV2Layer(Block):
    def __init__(self, config):
        super().__init__()
        self.attention = DebertaV2Attention(config)
        self.intermediate = DebertaV2Intermediate(config)
        self.output = BertResidual(config.intermediate_size, config)

    def compute(self, x, cache, mask, relative, embeddings):
        attended = self.attention(x, mask, relative, embeddings)
        inner = self.intermediate(attended)
        return self.output(inner, attended)
