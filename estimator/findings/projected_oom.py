"""The run needs more memory than a configured GPU has: it ends with `CUDA out of memory`, often only after minutes or at the first long batch.

Reported where the configuration of the repository names GPUs (`gpus = ["T4"]`) and even the optimistic end of the estimate does not fit on one
of them. It stands on the line that set what moved, else on the line that holds most at the peak.

**How to fix it.** `preflight estimate SCRIPT --gpu NAME` lists what would make it fit, each change tried by running it: a smaller batch with
accumulation, checkpointing, another precision or optimizer, sharding, another GPU.

**What is not reported.** A run that may fit: the verdict is `borderline` where a size that nobody wrote down decides or where the interval
reaches below what the card has, and `cannot_tell` where the model was not followed. `preflight check` makes no estimates, so that it stays
quick: this is found by `preflight review`, and on pull requests.
"""

from __future__ import annotations

from analysis.finding import Finding, Severity
from analysis.rule import Rule
from analysis.snapshot import Snapshot
from estimator.catalog import gpu
from estimator.estimate import Estimate, Fit, Verdict
from estimator.findings.blame import asked_about_estimates, confidence, evidence
from estimator.fit import interval_on
from estimator.report.wording import size

RULE = Rule("projected-oom", Severity.ERROR, "the run needs more memory than a configured GPU has", __doc__, asked_about_estimates, examples=())


def too_small(estimate: Estimate | None) -> tuple[Fit, ...]:
    """The cards that even the optimistic end does not fit on."""
    return () if estimate is None else tuple(fit for fit in estimate.fits if fit.verdict is Verdict.DOES_NOT_FIT)


def projected_oom(before: Estimate | None, after: Estimate, snapshot: Snapshot) -> Finding | None:
    """The finding about ``after``, an estimate on ``snapshot``; ``before`` is what the change started from."""
    cards = too_small(after)
    if not cards or after.memory is None:
        return None
    chain = evidence(before, after, snapshot)
    least = ", ".join(f"at least {size(interval_on(after.memory, gpu(fit.gpu)).low)} on {fit.gpu}, which has {size(fit.usable_bytes)}" for fit in cards)
    return Finding(
        RULE.name,
        RULE.severity,
        confidence(after),
        chain[0].span,
        f"`{after.entry}` runs out of memory: it needs {least}",
        chain,
        no_fix_because=_why_no_fix(after),
    )


def _why_no_fix(estimate: Estimate) -> str:
    fitting = next((remedy for remedy in estimate.remedies if remedy.fits), None)
    reason = "each way to save memory changes how the run trains or what it runs on"
    return reason if fitting is None else f"{reason}; one that was tried: {fitting.change} (peak {size(fitting.peak_bytes)})"
