"""What a rule reports: a finding, the evidence that leads to it, and the patch that ends it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum

from analysis.source import Span


class Severity(IntEnum):
    """``ERROR`` wrong result, hang or out of memory; ``WARNING`` probably so; ``NOTICE`` cost and housekeeping."""

    NOTICE = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The name used in JSON and on the command line."""
        return self.name.lower()


class Confidence(IntEnum):
    """``LOW`` a value on the chain was lost (counted, never posted); ``MEDIUM`` something was assumed; ``HIGH`` neither."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    @property
    def label(self) -> str:
        """The name used in JSON and on the command line."""
        return self.name.lower()


class Safety(Enum):
    """``SAFE`` cannot break code that runs and leaves every other value alone; ``REVIEW`` depends on what was meant."""

    SAFE = "safe"
    REVIEW = "review"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One step of the chain: what happens at ``span``, as a sentence."""

    span: Span
    says: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes of ``span`` by ``text``; an empty span inserts."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A patch. For ``REVIEW`` the title holds the question that the reader has to answer."""

    title: str
    safety: Safety
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What the code appears to do at ``span``, with the chain that leads there (first = cause, last = effect, never empty).

    ``function`` is the qualified name of the enclosing function ("" at module level): with the rule and the
    normalised statement it makes the fingerprint, so that a moved line stays the same finding.
    """

    rule: str
    severity: Severity
    confidence: Confidence
    span: Span
    message: str
    evidence: tuple[Evidence, ...]
    function: str = ""
    fix: Fix | None = None
    no_fix_because: str | None = None
    fingerprint: str = ""

    def __post_init__(self) -> None:
        if not self.evidence:
            raise ValueError(f"{self.rule}: a finding needs at least one step of evidence")
