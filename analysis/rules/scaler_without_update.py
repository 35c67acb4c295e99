"""A gradient scaler steps again without an update in between.

`scaler.update()` ends an iteration: it adapts the loss scale and resets what the scaler remembers of each optimizer. Without it the second
`scaler.step(optimizer)` raises `RuntimeError: step() has already been called since the last update()`.

**How to fix it.** Call `scaler.update()` once per iteration, after the last `scaler.step(...)`.

The second `scaler.unscale_(optimizer)` raises one as well: an iteration that is broken off after the first, because the norm of its gradients is too
large say, needs its update too.

**What is not reported.** One update for several optimizers; a scaler built with `enabled=False`; an update that an undecided
branch may have skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import InsertAfter, Proposal, Reported
from analysis.interpreter.values import Instance
from analysis.rule import Bad, Good, Rule
from analysis.rules._objects import Concern, concern, confidence_in, distinct, optimizers
from analysis.rules._statements import step_names
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Letter, LetterOf, Witness
from analysis.trace.events import Event, Kind
from analysis.trace.places import meeting, visible
from analysis.trace.reading import statement_of, text

#: Per scaler and optimizer.
PROTOCOL = Automaton(
    start="ready",
    table={("ready", "step"): "stepped", ("stepped", "update"): "ready", ("stepped", "opaque"): "ready"},
    faults=frozenset({("stepped", "step")}),
    neutral=frozenset({"ready"}),
    cures=frozenset({"update"}),
    certain=True,
)
#: Gradients that were divided once stay so until the update. What skips it is the mistake: no way past it is doubted.
UNSCALED = Automaton(
    start="ready",
    table={("ready", "unscale"): "unscaled", ("unscaled", "update"): "ready", ("unscaled", "opaque"): "ready"},
    faults=frozenset({("unscaled", "unscale")}),
    neutral=frozenset({"ready"}),
    cures=frozenset(),
)


def check(trace: Trace) -> Iterator[Reported]:
    """A second step of one optimizer by one scaler since the scaler's last update."""
    scalers = distinct(
        event.detail for event in trace.events(Kind.STEP) if isinstance(event.detail, Instance) and event.detail.cls.has_base("torch.amp.GradScaler")
    )
    for scaler in scalers:
        if scaler.fields.get("scaler: enabled") is False:
            continue
        for optimizer in optimizers(trace):
            found = list(trace.run(PROTOCOL, _letters(scaler, optimizer), Kind.STEP, Kind.SCALER_UPDATE, Kind.OPAQUE))
            yield from (_reported(trace, scaler, witness) for witness in found)
            skipped = () if found else trace.run(UNSCALED, _letters(scaler, optimizer), Kind.STEP, Kind.UNSCALE, Kind.SCALER_UPDATE, Kind.OPAQUE)
            yield from (_reported_skipped(trace, scaler, witness) for witness in skipped if not trace.undecided(witness.fault))


def _letters(scaler: Instance, optimizer: Instance) -> LetterOf:
    def letter(event: Event) -> Letter | None:
        match event.kind:
            case Kind.STEP:
                same = concern(event.subject, optimizer) is Concern.YES
                return None if not same else "step" if event.detail is scaler else "opaque"  # which steps by itself does without the scaler
            case Kind.UNSCALE:
                return "unscale" if event.subject is scaler and concern(event.value, optimizer) is Concern.YES else None
            case Kind.SCALER_UPDATE:
                return "update" if concern(event.subject, scaler) is not Concern.NO else None
            case _:
                return "opaque" if any(each is scaler or concern(each, optimizer) is Concern.YES for each in event.subject) else None

    return letter


def _reported(trace: Trace, scaler: Instance, witness: Witness) -> Reported:
    files = trace.snapshot.contents
    first, again = witness.events[-2][0], witness.fault
    span = meeting(again, first, files) if first.span != again.span else visible(again, files)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(scaler),
        span,
        f"`{text(trace.snapshot, span)}` runs again without an update of the scaler in between: the second call raises a RuntimeError",
        (
            Evidence(visible(first, files), "the scaler steps the optimizer"),
            Evidence(visible(again, files), "and steps it again: no update() came between"),
        ),
    )
    names, place = step_names(trace, first), statement_of(trace.snapshot, first.span)
    if names is None or place is None or first.span.path not in files:
        return Reported(replace(finding, no_fix_because="the scaler has no name where it steps: call its update() once per iteration"))
    line = f"{names[0]}.update()"
    return Reported(finding, Proposal(f"Update the scaler after its step: {line}", Safety.SAFE, (InsertAfter(place, (line,)),)))


def _reported_skipped(trace: Trace, scaler: Instance, witness: Witness) -> Reported:
    files = trace.snapshot.contents
    span = visible(witness.fault, files)
    update = next((visible(event, files) for event in trace.events(Kind.SCALER_UPDATE)), None)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(scaler),
        span,
        f"`{text(trace.snapshot, span)}` runs again where a branch has left the update out: the second call raises a RuntimeError",
        (
            Evidence(span, "the gradients of this optimizer are divided, which counts until the scaler's update"),
            *([Evidence(update, "not every way to the next iteration comes by this update")] if update is not None else []),
        ),
        no_fix_because="an iteration whose step is left out needs scaler.update() too",
    )
    return Reported(finding)


RULE = Rule(
    "scaler-without-update",
    Severity.ERROR,
    "a gradient scaler steps again without an update in between",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(torch.nn.functional.mse_loss(model(x), y)).backward()
        scaler.step(optimizer)  # flagged
""",
            fixed="""
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        scaler.scale(torch.nn.functional.mse_loss(model(x), y)).backward()
        scaler.step(optimizer)
        scaler.update()
""",
        ),
        Good(
            """
import torch

def train(generator, critic, loader):
    g = torch.optim.Adam(generator.parameters())
    d = torch.optim.Adam(critic.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for real in loader:
        fake = generator(torch.randn_like(real))
        d.zero_grad()
        scaler.scale(critic(fake.detach()).mean() - critic(real).mean()).backward()
        scaler.step(d)
        g.zero_grad()
        scaler.scale(-critic(fake).mean()).backward()
        scaler.step(g)
        scaler.update()
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for i, (x, y) in enumerate(loader):
        scaler.scale(torch.nn.functional.mse_loss(model(x), y) / 4).backward()
        if (i + 1) % 4 == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
"""
        ),
        Good(
            """
import torch
import torch_xla.core.xla_model as xm

def train(model, loader, clips):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        scaler.scale(torch.nn.functional.mse_loss(model(x), y)).backward()
        if clips:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if xm.xla_device_hw(x.device) == "TPU":
            xm.optimizer_step(optimizer)
        else:
            scaler.step(optimizer)
            scaler.update()
        optimizer.zero_grad()
"""
        ),
    ),
)
