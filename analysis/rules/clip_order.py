"""Gradients are clipped at a moment when clipping does not do what it says.

After `step()` the clipped gradients are no longer used by anything: clipping is off. Before the backward there is nothing to clip yet,
or what the last step left over. Inside an accumulation window, after every micro-batch, what is limited is a growing partial sum, so that
the first micro-batches count less than the last.

**How to fix it.** Clip once, between the last `backward()` and the `step()`. In Lightning: `Trainer(gradient_clip_val=...)` or
`configure_gradient_clipping`, since `training_step` runs before the backward.

**What is not reported.** A second call after the step where one before it has done the work (norms for a log); an infinite limit, which
only measures; per-sample clipping that copies the gradients away; code that reads or scales gradients by hand.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from analysis.finding import Evidence, Finding, Safety, Severity
from analysis.fixes.change import MoveStatement, Proposal, Reported
from analysis.rule import Bad, Good, Rule
from analysis.rules._gradients import GRADIENT_EVENTS, Gradients, gradients_of
from analysis.rules._objects import confidence_in
from analysis.rules._statements import is_alone, siblings
from analysis.source import Span
from analysis.trace import Trace
from analysis.trace.automaton import Automaton, Letter, LetterOf, Witness
from analysis.trace.events import Event
from analysis.trace.places import frames, meeting, visible
from analysis.trace.reading import statement_of, text

#: Per optimizer. clipped: after a backward; partial: another backward followed; used: a step took unclipped gradients; empty: just cleared;
#: early: clipped then, before any backward; unclipped: and then a backward.
PROTOCOL = Automaton(
    start="clean",
    table={
        ("clean", "backward"): "fresh",
        ("clean", "zero"): "empty",
        ("empty", "backward"): "fresh",
        ("empty", "clip"): "early",
        ("empty", "opaque"): "clean",
        ("early", "backward"): "unclipped",
        ("early", "zero"): "empty",
        ("early", "step"): "clean",
        ("early", "opaque"): "clean",
        ("early", "use"): "clean",
        ("unclipped", "clip"): "clipped",
        ("unclipped", "step"): "clean",
        ("unclipped", "zero"): "empty",
        ("unclipped", "opaque"): "clean",
        ("unclipped", "use"): "clean",
        ("fresh", "clip"): "clipped",
        ("fresh", "step"): "used",
        ("fresh", "zero"): "empty",
        ("fresh", "opaque"): "clean",
        ("clipped", "backward"): "partial",
        ("clipped", "step"): "clean",
        ("clipped", "zero"): "empty",
        ("clipped", "opaque"): "clean",
        ("clipped", "use"): "clean",
        ("partial", "clip"): "partial",
        ("partial", "step"): "clean",
        ("partial", "zero"): "empty",
        ("partial", "opaque"): "clean",
        ("used", "backward"): "fresh",
        ("used", "zero"): "empty",
        ("used", "opaque"): "clean",
        ("used", "clip"): "clean",
        ("fresh", "use"): "clean",
    },
    faults=frozenset({("used", "clip"), ("partial", "clip"), ("unclipped", "step")}),
    neutral=frozenset({"clean", "empty"}),
    cures=frozenset(),
    certain=True,
)


def check(trace: Trace) -> Iterator[Reported]:
    """Clipping after the step has used the gradients, before a backward has made them, or between two backwards of one step."""
    for gradients in gradients_of(trace):
        for witness in trace.run(PROTOCOL, _letters(gradients), *GRADIENT_EVENTS):
            before = witness.last("clip")
            if before is not None and witness.events[-1][1] == "step":
                yield _early(trace, gradients, before, witness.last("backward") or before)
            elif before is None:
                yield _late(trace, gradients, witness)
            elif frames(before) == frames(witness.fault):
                yield _partial(trace, gradients, witness, before)


def _letters(gradients: Gradients) -> LetterOf:
    def letter(event: Event) -> Letter | None:
        found = gradients.letter(event)
        return None if found == "clip" and _only_measures(event) else found

    return letter


def _only_measures(clip: Event) -> bool:
    """Whether the limit is infinite."""
    return isinstance(clip.detail, dict) and math.inf in clip.detail.values()


def _early(trace: Trace, gradients: Gradients, clip: Event, backward: Event) -> Reported:
    files = trace.snapshot.contents
    span, makes = visible(clip, files), visible(backward, files)
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(gradients.optimizer),
        span,
        f"`{text(trace.snapshot, span)}` clips before `{text(trace.snapshot, makes)}` has made any gradients: nothing that trains is clipped",
        (Evidence(span, "the gradients were cleared, and there is nothing to clip"), Evidence(makes, "only then this backward makes them")),
    )
    places = siblings(trace.snapshot, clip.span, backward.span) if clip.path == backward.path else None
    if places is None or not is_alone(trace.snapshot, clip.span):
        return Reported(replace(finding, no_fix_because="clip and backward stand in different places: clip between the backward and the step"))
    return Reported(finding, Proposal("Clip after the backward", Safety.SAFE, (MoveStatement(places[0], after=places[1]),)))


def _late(trace: Trace, gradients: Gradients, witness: Witness) -> Reported:
    files = trace.snapshot.contents
    clip, step = witness.fault, witness.last("step") or witness.fault
    backward = witness.last("backward") or step
    span = meeting(clip, step, files)
    by_hook = step.span.path not in files
    when = "before the backward: under automatic optimization `training_step` runs first" if by_hook else "after the step has used the gradients"
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(gradients.optimizer),
        span,
        f"`{text(trace.snapshot, span)}` clips {when}: nothing that trains is clipped",
        (
            Evidence(visible(backward, files), "this backward fills the gradients"),
            Evidence(visible(step, files), "this step uses them, unclipped"),
            Evidence(visible(clip, files), "and only here they are clipped"),
        ),
    )
    if by_hook:
        return Reported(replace(finding, no_fix_because="the trainer clips: set gradient_clip_val, or move this into configure_gradient_clipping"))
    if step.detail is not None:
        return Reported(replace(finding, no_fix_because="a scaler runs the step: unscale and clip before it"))
    places = siblings(trace.snapshot, clip.span, step.span) if clip.path == step.path else None
    if places is None or not is_alone(trace.snapshot, clip.span):
        return Reported(replace(finding, no_fix_because="the clipping and the step are in different places: clip right before the step"))
    return Reported(finding, Proposal("Clip before the step", Safety.SAFE, (MoveStatement(places[0], before=places[1]),)))


def _partial(trace: Trace, gradients: Gradients, witness: Witness, before: Event) -> Reported:
    files = trace.snapshot.contents
    span = visible(before, files)
    backward = witness.last("backward") or before
    finding = Finding(
        RULE.name,
        RULE.severity,
        confidence_in(gradients.optimizer),
        span,
        f"`{text(trace.snapshot, span)}` clips after every micro-batch: it limits a partial sum again and again, so that early micro-batches count less",
        (
            Evidence(span, "the gradients are clipped here"),
            Evidence(visible(backward, files), "another backward adds to the clipped sum before any step"),
            Evidence(span, "and the sum is clipped again"),
        ),
    )
    step = _step_place(trace, gradients, before)
    place = statement_of(trace.snapshot, span)
    if step is None or place is None or not is_alone(trace.snapshot, span):
        return Reported(replace(finding, no_fix_because="the step is run elsewhere: clip once, right before it"))
    title = "Is the limit meant for the whole window? Then clip once, before the step"
    return Reported(finding, Proposal(title, Safety.REVIEW, (MoveStatement(place, before=step),)))


def _step_place(trace: Trace, gradients: Gradients, clip: Event) -> Span | None:
    """The statement of the step in the clipping's own function, if no scaler runs it."""
    steps = (event for event in trace.events(*GRADIENT_EVENTS) if gradients.letter(event) == "step" and event.path == clip.path and event.detail is None)
    step = next(steps, None)
    return statement_of(trace.snapshot, step.span) if step is not None else None


_BACKWARD = "        torch.nn.functional.mse_loss(model(x), y).backward()\n"
_UPDATE = "        optimizer.step()\n"
_CLIP = "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)"
_STEP = """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
{body}"""

RULE = Rule(
    "clip-order",
    Severity.ERROR,
    "gradients are clipped after the step, before the backward, or per micro-batch",
    __doc__,
    check,
    examples=(
        Bad(_STEP.format(body=_BACKWARD + _UPDATE + _CLIP + "  # flagged\n"), fixed=_STEP.format(body=_BACKWARD + _CLIP + "\n" + _UPDATE)),
        Bad(_STEP.format(body=_CLIP + "  # flagged\n" + _BACKWARD + _UPDATE), fixed=_STEP.format(body=_BACKWARD + _CLIP + "\n" + _UPDATE)),
        Bad(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y) / 4
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # flagged
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
            fixed="""
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y) / 4
        loss.backward()
        if (i + 1) % 4 == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
""",
        ),
        Bad(
            """
import lightning.pytorch as pl
import torch

class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)  # flagged
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.net.parameters(), lr=0.1)

pl.Trainer(max_epochs=2).fit(Net(), None)
"""
        ),
        Good(
            """
import torch

def train(generator, critic, loader):
    g = torch.optim.Adam(generator.parameters())
    d = torch.optim.Adam(critic.parameters())
    for real in loader:
        fake = generator(torch.randn_like(real))
        d.zero_grad()
        (critic(fake.detach()).mean() - critic(real).mean()).backward()
        torch.nn.utils.clip_grad_norm_(critic.parameters(), 1.0)
        d.step()
        g.zero_grad()
        (-critic(fake).mean()).backward()
        torch.nn.utils.clip_grad_norm_(generator.parameters(), 1.0)
        g.step()
"""
        ),
        Good(
            """
import torch

def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        print(torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf")))
"""
        ),
    ),
)
