"""What a test looks at afterwards: which requests came, and which of them GitHub would have refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request. `operation` is GitHub's operation id, `graphql`, or None when there is no such operation."""

    operation: str | None
    method: str
    path: str
    status: int | None
    body: object


@dataclass(frozen=True, slots=True)
class Violation:
    """A request that broke GitHub's description or a documented rule, and how."""

    operation: str | None
    method: str
    path: str
    problem: str


@dataclass(slots=True)
class Records:
    """All requests in order, all violations, and how often each operation was asked for."""

    requests: list[RequestRecord] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def clear(self) -> None:
        """Forget everything so far."""
        self.requests.clear()
        self.violations.clear()
        self.counts.clear()
