"""``torch.distributions``: what is computed from a distribution carries the graph of its parameters; what is drawn with ``sample`` does not."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.interpreter.values import Call, HostFunction, Instance, Value
from analysis.library.domain import domain_of
from analysis.library.knowledge import Example, Subject

SUBJECT = Subject(
    examples=(
        Example(
            """
import torch
from torch.distributions import Categorical, Independent, Normal, kl_divergence

class Fixed(Categorical):
    def log_probs(self, actions):
        return super().log_prob(actions).sum()

policy = torch.nn.Linear(4, 2)
chosen = Fixed(logits=policy(torch.zeros(1, 4)))
drawn = chosen.sample()
assert not drawn.requires_grad
chosen.log_probs(drawn).backward()
spread = Independent(Normal(policy(torch.zeros(1, 4)), 1.0), 1)
(spread.rsample().mean() + kl_divergence(spread, spread).mean() + spread.base_dist.mean.sum()).backward()
""",
            ("forward Linear", "backward", "forward Linear", "backward"),
        ),
    ),
)

_PACKAGE = "torch.distributions"
_DISTRIBUTION = SUBJECT.cls(f"{_PACKAGE}.Distribution")
_KINDS = """
Bernoulli Beta Binomial Categorical Cauchy Chi2 ContinuousBernoulli Dirichlet Exponential ExponentialFamily FisherSnedecor Gamma Geometric Gumbel
HalfCauchy HalfNormal Independent InverseGamma Kumaraswamy LKJCholesky Laplace LogNormal LogisticNormal LowRankMultivariateNormal MixtureSameFamily
Multinomial MultivariateNormal NegativeBinomial Normal OneHotCategorical OneHotCategoricalStraightThrough Pareto Poisson RelaxedBernoulli
RelaxedOneHotCategorical StudentT TransformedDistribution Uniform VonMises Weibull Wishart
"""
SUBJECT.subclasses(f"{_PACKAGE}.Distribution", _PACKAGE, _KINDS)
for _module in ("categorical", "normal", "bernoulli", "distribution", "independent", "beta", "uniform", "multivariate_normal", "kl", "one_hot_categorical"):
    SUBJECT.alias(_PACKAGE, f"{_PACKAGE}.{_module}")

#: Where a distribution keeps what it was made of.
_GIVEN = "distribution: given"
_DRAWN = frozenset({"sample", "sample_n"})


@_DISTRIBUTION.method("__init__")
def _init(call: Call) -> Value:
    named = {name: value for name, value in call.kwargs.items() if name not in {"*", "**"}}
    call.args[0].fields.update({**named, _GIVEN: tuple(_parameters((*call.args[1:], *call.kwargs.values())))})


def _parameters(values: tuple[Value, ...]) -> Iterator[Value]:
    """What the values of a distribution depend on; a distribution among them gives its own."""
    for value in values:
        if isinstance(value, Instance) and _GIVEN in value.fields:
            yield from value.fields[_GIVEN]
        else:
            yield value


def _computed(name: str) -> HostFunction:
    """A value that depends on the parameters and on what is passed."""

    def run(call: Call) -> Value:
        given = (*call.args[0].fields.get(_GIVEN, ()), *call.args[1:], *call.kwargs.values())
        return domain_of(call).autograd.made(name, given, cut=name in _DRAWN)

    return HostFunction(name, run)


_METHODS = "log_prob entropy perplexity cdf icdf rsample sample sample_n enumerate_support"
_DISTRIBUTION.namespace.update({_name: _computed(_name) for _name in _METHODS.split()})


@_DISTRIBUTION.method("expand")
def _expanded(call: Call) -> Value:
    return call.args[0]


@_DISTRIBUTION.method("__getattr__")
def _attribute(call: Call) -> Value:
    """``mean``, ``probs``, ``logits`` and the like; the distribution inside another is as good as the whole."""
    distribution, name = call.args
    if name in {"base_dist", "component_distribution", "mixture_distribution"}:
        return distribution
    return domain_of(call).autograd.made(name, tuple(distribution.fields.get(_GIVEN, ())))


@SUBJECT.function(f"{_PACKAGE}.kl_divergence")
def _divergence(call: Call) -> Value:
    return domain_of(call).autograd.made("kl_divergence", tuple(_parameters((*call.args, *call.kwargs.values()))))
