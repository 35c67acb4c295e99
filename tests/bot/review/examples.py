"""Hand-made findings and estimates, as the analysis would return them."""

from __future__ import annotations

from analysis.certainty import Assumed, Known, Place
from analysis.finding import Confidence, Safety, Severity
from bot.review.located import LocatedEdit, LocatedFinding, LocatedFix, Remark
from bot.review.result import EstimatePair, Review
from estimator.config import TrainingConfig
from estimator.estimate import Components, Estimate, Fit, Holder, Interval, Memory, Mode, Remedy, Verdict

MIB = 1 << 20
GIB = 1 << 30
BASE, HEAD, MERGE_BASE = "b" * 40, "a" * 40, "c" * 40

TRAIN = b"""\
import torch

def train(model, loader, optimizer):
    total = 0.0
    for batch in loader:
        loss = model(batch)
        loss.backward()
        optimizer.step()
        total += loss
    return total
"""


def edit(start: tuple[int, int], end: tuple[int, int], text: str, path: str = "train.py") -> LocatedEdit:
    return LocatedEdit(path, *start, *end, text)


def fix(*edits: LocatedEdit, title: str = "Store the number, not the graph", safety: Safety = Safety.SAFE) -> LocatedFix:
    return LocatedFix(title, safety, edits)


def finding(
    rule: str = "retained-graph",
    line: int = 9,
    *,
    severity: Severity = Severity.ERROR,
    patch: LocatedFix | None = None,
    message: str = "`total` keeps the autograd graph of every step alive.",
    evidence: tuple[Remark, ...] = (),
    path: str = "train.py",
    no_fix_because: str | None = None,
) -> LocatedFinding:
    return LocatedFinding(
        rule=rule,
        severity=severity,
        confidence=Confidence.HIGH,
        path=path,
        line=line,
        column=9,
        end_line=line,
        end_column=22,
        message=message,
        evidence=evidence or (Remark(path, line, "the total grows here"),),
        fix=patch,
        no_fix_because=no_fix_because,
        fingerprint=f"{rule}:{path}:{line}",
    )


RETAINED = finding(
    patch=fix(edit((9, 18), (9, 22), "loss.item()")),
    evidence=(Remark("model.py", 31, "the loss is on the graph"), Remark("train.py", 9, "`total += loss` keeps it")),
)
UNCLEARED = finding(
    "missing-zero-grad",
    8,
    message="`optimizer.step()` uses gradients of earlier steps too.",
    patch=fix(edit((7, 1), (7, 1), "        optimizer.zero_grad()\n"), title="Clear the gradients before each backward"),
)
QUESTION = finding(
    "stuck-in-eval",
    6,
    severity=Severity.WARNING,
    message="`model` is still in evaluation mode here.",
    patch=fix(edit((5, 1), (5, 1), "    model.train()\n"), title="Should dropout be active in this loop?", safety=Safety.REVIEW),
)
NO_FIX = finding("unsharded-loader", 5, message="Every rank reads all of `loader`.", no_fix_because="the sampler is built elsewhere")


def estimate(batch: int, activations: int, verdict: Verdict, *remedies: Remedy) -> Estimate:
    components = Components(parameters=475 * MIB, gradients=475 * MIB, optimizer_state=950 * MIB, activations=activations, context=135 * MIB)
    allocated = 475 * MIB * 4 + activations
    peak = allocated + 135 * MIB
    memory = Memory(
        parameters=124_439_808,
        trainable_parameters=124_439_808,
        components=components,
        allocated_bytes=allocated,
        allocated_interval=Interval(allocated, allocated),
        peak_bytes=peak,
        interval=Interval(peak - GIB, peak + GIB),
        peak_at="backward",
        largest=(Holder(Place("model.py", 41), activations // 2, "attention scores, 12 blocks"), Holder(Place("model.py", 77), GIB, "logits")),
    )
    config = TrainingConfig(
        model=Known("GPT", Place("model.py", 118)),
        batch_size=Known(batch, Place("train.py", 12)),
        sequence_length=Assumed(1024, "`block_size` of model.py:9; no data flow connects them"),
        optimizer=Known("AdamW", Place("train.py", 20)),
    )
    return Estimate("train.py", Mode.TRAINING, config, memory, ("the vocabulary of `tokenizer`",), (Fit("T4", 15 * GIB, verdict),), remedies)


SMALLER = estimate(8, 6 * GIB, Verdict.FITS)
LARGER = estimate(
    64,
    48 * GIB,
    Verdict.DOES_NOT_FIT,
    Remedy("batch size 16", 36 * GIB, 14 * GIB, fits=True, cost="four times as many steps"),
    Remedy("activation checkpointing", 30 * GIB, 20 * GIB, fits=False, cost="about a third more compute"),
)
UNRESOLVED = Estimate("train.py", Mode.TRAINING, TrainingConfig(), None, ("the class of `model` (hub.load at train.py:7)",))

CHANGE = Review(
    base=BASE,
    head=HEAD,
    merge_base=MERGE_BASE,
    introduced=(RETAINED, UNCLEARED, QUESTION),
    fixed=(finding("double-softmax", 14),),
    existing=(NO_FIX,),
    unresolved=(Remark("train.py", 3, "`loader` is an argument that nobody in the repository passes"),),
    not_analysed=(Remark("broken.py", 2, "not valid Python: invalid syntax"),),
    estimates=(EstimatePair("train.py", SMALLER, LARGER),),
    files=12,
    rules=6,
    unsure=2,
)
QUIET = Review(base=BASE, head=HEAD, merge_base=MERGE_BASE, estimates=(EstimatePair("train.py", SMALLER, SMALLER),), files=3, rules=6)
