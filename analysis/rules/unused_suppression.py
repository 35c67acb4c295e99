"""A comment that silences findings silences none.

`# preflight: ignore[rule] reason` outlives the code that it was written for: the mistake was mended or moved away, the rule no longer reports
it, or the rule's name was misspelt from the start. The next real finding on that line would then be hidden, or the reader believes that
something is silenced that is not.

**How to fix it.** Remove the comment, or name the rule as `preflight rules` lists it.

**What is not reported.** Comments that name a rule which did not run; those that name a rule about memory, which depends on the GPUs that are
configured.
"""

from __future__ import annotations

from collections.abc import Iterator

from analysis.finding import Severity
from analysis.fixes.change import Reported
from analysis.rule import Bad, Good, Rule
from analysis.suppress import UNUSED
from analysis.trace import Trace


def check(_trace: Trace) -> Iterator[Reported]:
    """Nothing on a trace: which comments are used is known when all rules have been asked."""
    return iter(())


RULE = Rule(
    UNUSED,
    Severity.NOTICE,
    "a comment that silences findings silences none",
    __doc__,
    check,
    examples=(
        Bad(
            """
import torch

model = torch.nn.Linear(8, 2)  # preflight: ignore[retaind-graph] second-order gradients need it  # flagged
"""
        ),
        Bad(
            """
import torch

model = torch.nn.Linear(8, 2)
total = 0.0  # preflight: ignore for now  # flagged
"""
        ),
        Good(
            """
import torch

model = torch.nn.Linear(8, 2)  # preflight: ignore[retained-graph] that rule was not asked
"""
        ),
        Good(
            """
import torch

text = "# preflight: ignore[no-such-rule] in a string is no comment"
"""
        ),
    ),
)
