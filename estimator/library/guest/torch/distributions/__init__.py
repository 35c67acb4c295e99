"""Distributions: what they keep are the tensors of their own arithmetic. Mirrors torch 2.14 (``torch/distributions``)."""

import math

import torch


class Distribution:
    def sample_n(self, count):
        return self.sample((count,))

    def _extended(self, sample_shape, shape):
        return tuple(sample_shape) + tuple(shape)


class Categorical(Distribution):
    def __init__(self, probs=None, logits=None, validate_args=None):
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self.given = probs if probs is not None else logits

    def __getattr__(self, name):
        if name == "logits":
            self.logits = self.probs.clamp(min=1e-7, max=1 - 1e-7).log()
            return self.logits
        if name == "probs":
            self.probs = torch.softmax(self.logits, dim=-1)
            return self.probs
        raise AttributeError(name)

    def sample(self, sample_shape=()):
        shape = self._extended(sample_shape, self.given.shape[:-1])
        with torch.no_grad():
            return torch.zeros(shape, dtype=torch.int64, device=self.given.device)

    def log_prob(self, value):
        value = value.long().unsqueeze(-1)
        logits = self.logits
        return logits.expand(value.shape[:-1] + logits.shape[-1:]).gather(-1, value).squeeze(-1)

    def entropy(self):
        logits = torch.clamp(self.logits, min=-3.4e38)
        return -(logits * self.probs).sum(-1)


class Normal(Distribution):
    def __init__(self, loc, scale, validate_args=None):
        self.loc = self.mean = loc
        self.scale = self.stddev = scale

    @property
    def variance(self):
        return self.scale.pow(2)

    def sample(self, sample_shape=()):
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        noise = torch.randn(self._extended(sample_shape, (self.loc + self.scale).shape), device=self.loc.device, dtype=self.loc.dtype)
        return self.loc + noise * self.scale

    def log_prob(self, value):
        var = self.scale**2
        log_scale = math.log(self.scale) if isinstance(self.scale, (int, float)) else self.scale.log()
        return -((value - self.loc) ** 2) / (2 * var) - log_scale - math.log(math.sqrt(2 * math.pi))

    def entropy(self):
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)


class Bernoulli(Distribution):
    def __init__(self, probs=None, logits=None, validate_args=None):
        self.given = probs if probs is not None else logits
        self.logits = logits if logits is not None else torch.log(probs) - torch.log1p(-probs)
        self.probs = probs if probs is not None else torch.sigmoid(logits)

    def sample(self, sample_shape=()):
        return torch.zeros(self._extended(sample_shape, self.given.shape), dtype=self.given.dtype, device=self.given.device)

    def log_prob(self, value):
        return -torch.nn.functional.binary_cross_entropy_with_logits(self.logits, value, reduction="none")


class Independent(Distribution):
    def __init__(self, base_distribution, reinterpreted_batch_ndims, validate_args=None):
        self.base_dist = base_distribution
        self.count = reinterpreted_batch_ndims

    def sample(self, sample_shape=()):
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape=()):
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value):
        return self.base_dist.log_prob(value).sum(tuple(range(-self.count, 0)))

    def entropy(self):
        return self.base_dist.entropy().sum(tuple(range(-self.count, 0)))
