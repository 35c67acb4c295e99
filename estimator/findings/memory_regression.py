"""The change makes the run hold more GPU memory than before, beyond what the estimate is unsure of.

The peak before and after was estimated with the same settings. Reported where the two intervals do not overlap, so that the growth is none of
the estimate's own width, and where it reaches `memory-threshold` of the configuration. It stands on the line that set what moved (a batch size,
a precision, an optimizer), else on the line that holds more at the peak than it did.

**How to fix it.** If the growth is meant, nothing: note it, or silence the line with the reason. Else look at what the evidence names: a tensor
kept longer, an option that went, a wider layer.

**What is not reported.** Growth within the intervals; runs that were not followed on one of the two sides; a size that was read on one side and
had to be assumed on the other; what `projected-oom` already says of the same change.
"""

from __future__ import annotations

from analysis.certainty import Assumed
from analysis.finding import Finding, Severity
from analysis.rule import Rule
from analysis.settings import Threshold
from analysis.snapshot import Snapshot
from estimator.compare import compare
from estimator.estimate import Estimate
from estimator.findings.blame import asked_about_estimates, confidence, evidence
from estimator.report.wording import size

RULE = Rule("memory-regression", Severity.WARNING, "the change makes the run hold more GPU memory than before", __doc__, asked_about_estimates, examples=())


def memory_regression(before: Estimate, after: Estimate, snapshot: Snapshot, threshold: Threshold) -> Finding | None:
    """The finding about ``after``, an estimate on ``snapshot``, against ``before``."""
    if before.memory is None or after.memory is None or before.mode is not after.mode or _assumed_anew(before, after):
        return None
    old, new = before.memory, after.memory
    if new.interval.low <= old.interval.high or not threshold.reached(old.peak_bytes, new.peak_bytes):
        return None
    chain = evidence(before, after, snapshot)
    return Finding(
        RULE.name,
        RULE.severity,
        min(confidence(before), confidence(after)),
        chain[0].span,
        f"`{after.entry}` holds {size(new.peak_bytes)} at its peak, {size(new.peak_bytes - old.peak_bytes)} more than before this change",
        chain,
        no_fix_because="whether the growth is meant is for you to say",
    )


def _assumed_anew(before: Estimate, after: Estimate) -> bool:
    """Whether a setting that moved had to be assumed on either side: then what was assumed may be all that moved."""
    return any(isinstance(side, Assumed) for moved in compare(before, after).settings for side in (moved.base, moved.head))
