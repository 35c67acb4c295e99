"""All parameters that an optimizer holds are frozen.

`requires_grad = False` on every parameter, and then an optimizer over them: no backward ever fills a gradient, and nothing is learnt. Often a
new layer was meant to be added after the freezing, or the freezing to stop at one part of the model.

**How to fix it.** Freeze what is not to be trained, and give the optimizer what is.

**What is not reported.** Parameters that are frozen for a part of each step (a critic while the generator trains); a frozen module beside others that
train; a model that stands for any of a registry.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from analysis.finding import Confidence, Evidence, Finding, Severity
from analysis.fixes.change import Reported
from analysis.interpreter.items import CHOSEN
from analysis.interpreter.values import Instance, Value
from analysis.library.ownership import FROZEN, ONE_BY_ONE, modules_in
from analysis.library.tensor import Owner
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import Gradients, gradients_of
from analysis.rules._objects import atoms_of, inner
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.events import Event, Kind
from analysis.trace.places import visible
from analysis.trace.reading import around, text


def check(trace: Trace) -> Iterator[Reported]:
    """Optimizers that step while none of their parameters was ever reached, since all are frozen."""
    built = {id(event.subject): event for event in trace.events(Kind.OPTIMIZER_BUILT)}
    for gradients in gradients_of(trace):
        event = built.get(id(gradients.optimizer))
        if (
            event is not None
            and gradients.owners
            and not any(map(_is_any_of_many, gradients.owners))
            and all(_frozen(owner) for owner in gradients.owners)
            and not _reached(trace, gradients)
        ):
            yield _reported(trace, gradients, event)


def _is_any_of_many(owner: Owner) -> bool:
    """Whether it was taken for any of a registry, of which another need not freeze itself."""
    return isinstance(owner, Instance) and any(CHOSEN in cls.metadata for cls in inner(owner).cls.mro)


def _frozen(owner: Owner) -> bool:
    """Whether everything with parameters inside a module is frozen."""
    if not isinstance(owner, Instance):
        return False
    layers = [module for module in modules_in(inner(owner)) if atoms_of(module)]
    return bool(layers) and all(module.fields.get(FROZEN) is True for module in layers)


def _picked(trace: Trace, gradients: Gradients) -> bool:
    """Whether parameters were frozen one by one, and a filter may have left some."""
    modules = (module for owner in gradients.owners if isinstance(owner, Instance) for module in modules_in(inner(owner)))
    return any(not _of_all(trace, module.fields[ONE_BY_ONE]) for module in modules if ONE_BY_ONE in module.fields)


def _of_all(trace: Trace, span: Value) -> bool:
    """Whether the place where a parameter is frozen is all that a loop over ``parameters()`` does."""
    stands = around(trace.snapshot, span) if isinstance(span, Span) else None
    match stands.statements[-2:] if stands else ():
        case (ast.For(iter=ast.Call(func=ast.Attribute(attr="parameters" | "named_parameters")), body=body), _):
            return not any(isinstance(node, (ast.If, ast.Continue, ast.Break)) for each in body for node in ast.walk(each))
    return False


def _reached(trace: Trace, gradients: Gradients) -> bool:
    """Whether any backward may have filled a gradient. What is frozen at the time of a forward is in no graph."""
    return any(not event.value.owners or gradients.letter(event) == "backward" for event in trace.events(Kind.BACKWARD) if event.value.attached)


def _reported(trace: Trace, gradients: Gradients, built: Event) -> Reported:
    files = trace.snapshot.contents
    span = visible(built, files)
    step = next(event for event in trace.events(Kind.STEP) if gradients.letter(event) in {"step", "opaque"})
    finding = Finding(
        RULE.name,
        RULE.severity,
        Confidence.LOW if _picked(trace, gradients) else Confidence.MEDIUM,
        span,
        f"`{text(trace.snapshot, span)}` holds frozen parameters only: no backward fills a gradient, and its steps change nothing",
        (Evidence(span, "every parameter that the optimizer is given has requires_grad off"), Evidence(visible(step, files), "this step finds no gradients")),
        no_fix_because="which parameters are meant to be trained is for you to say",
    )
    return Reported(finding)


RULE = Rule(
    "frozen-by-mistake",
    Severity.WARNING,
    "all parameters that an optimizer holds are frozen",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Linear(8, 8), torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))

def train(loader):
    net = Net()
    net.requires_grad_(False)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)  # flagged
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = torch.nn.Linear(8, 8), torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.body(x))

def train(loader):
    net = Net()
    for p in net.parameters():
        p.requires_grad = False
    net.head = torch.nn.Linear(8, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
"""
        ),
        Good(
            """
import torch

def train(generator, critic, loader):
    g = torch.optim.Adam(generator.parameters())
    d = torch.optim.Adam(critic.parameters())
    for noise, real in loader:
        critic.requires_grad_(True)
        d.zero_grad()
        (critic(generator(noise).detach()).mean() - critic(real).mean()).backward()
        d.step()
        critic.requires_grad_(False)
        g.zero_grad()
        (-critic(generator(noise)).mean()).backward()
        g.step()
"""
        ),
    ),
)
