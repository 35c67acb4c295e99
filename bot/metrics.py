"""Counters and timings in Prometheus' text format: few enough that a client library would be more code than this."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

_BUCKETS_SECONDS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)

Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Counter:
    """A number that only grows, by labels."""

    name: str
    help: str
    values: dict[Labels, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, **labels: str) -> None:
        """Count one."""
        self.values[tuple(sorted(labels.items()))] += 1

    def lines(self) -> Iterator[str]:
        """The exposition of this metric."""
        yield from (f"# HELP {self.name} {self.help}", f"# TYPE {self.name} counter")
        for labels, value in sorted(self.values.items()):
            yield f"{self.name}{_braced(labels)} {value}"


@dataclass(slots=True)
class Gauge:
    """A number that goes up and down, by labels."""

    name: str
    help: str
    values: dict[Labels, float] = field(default_factory=dict)

    def set(self, value: float, **labels: str) -> None:
        """Replace the number."""
        self.values[tuple(sorted(labels.items()))] = value

    def lines(self) -> Iterator[str]:
        """The exposition of this metric."""
        yield from (f"# HELP {self.name} {self.help}", f"# TYPE {self.name} gauge")
        for labels, value in sorted(self.values.items()):
            yield f"{self.name}{_braced(labels)} {value:g}"


@dataclass(slots=True)
class Histogram:
    """Durations in seconds, by labels."""

    name: str
    help: str
    counts: dict[Labels, list[int]] = field(default_factory=dict)
    sums: dict[Labels, float] = field(default_factory=lambda: defaultdict(float))

    def observe(self, seconds: float, **labels: str) -> None:
        """Count one duration."""
        key = tuple(sorted(labels.items()))
        counts = self.counts.setdefault(key, [0] * (len(_BUCKETS_SECONDS) + 1))
        counts[bisect_left(_BUCKETS_SECONDS, seconds)] += 1
        self.sums[key] += seconds

    def lines(self) -> Iterator[str]:
        """The exposition of this metric; buckets are cumulative."""
        yield from (f"# HELP {self.name} {self.help}", f"# TYPE {self.name} histogram")
        for labels, counts in sorted(self.counts.items()):
            seen = 0
            for bound, count in zip((*map(str, _BUCKETS_SECONDS), "+Inf"), counts, strict=True):
                seen += count
                yield f"{self.name}_bucket{_braced((*labels, ('le', bound)))} {seen}"
            yield f"{self.name}_sum{_braced(labels)} {self.sums[labels]}"
            yield f"{self.name}_count{_braced(labels)} {seen}"


@dataclass(frozen=True, slots=True)
class Queue:
    """How many jobs wait or run, and the age of the oldest in seconds (0 where there is none)."""

    active: int
    oldest_seconds: float


@dataclass(slots=True)
class Metrics:
    """What the bot counts."""

    deliveries: Counter = field(default_factory=lambda: Counter("preflight_deliveries_total", "Webhook deliveries by event and outcome."))
    jobs: Counter = field(default_factory=lambda: Counter("preflight_jobs_total", "Finished steps of jobs by kind, step and outcome."))
    answer_seconds: Histogram = field(
        default_factory=lambda: Histogram("preflight_answer_seconds", "From a delivery's arrival to its answer, which says that it is stored.")
    )
    step_seconds: Histogram = field(default_factory=lambda: Histogram("preflight_step_seconds", "Duration of a step of a job."))
    requests: Counter = field(default_factory=lambda: Counter("preflight_github_requests_total", "Requests to GitHub by method and status."))
    redeliveries: Counter = field(
        default_factory=lambda: Counter("preflight_redeliveries_total", "Failed deliveries that GitHub was asked for again, by event.")
    )
    findings: Counter = field(default_factory=lambda: Counter("preflight_findings_total", "Findings of completed reviews by rule and what the change did."))
    budget: Gauge = field(default_factory=lambda: Gauge("preflight_github_budget_remaining", "Requests that GitHub last said are left, by resource."))
    fates: Gauge = field(default_factory=lambda: Gauge("preflight_finding_fates", "Findings that were shown, by rule and what became of them."))
    active: Gauge = field(default_factory=lambda: Gauge("preflight_jobs_active", "Jobs that wait or run."))
    oldest: Gauge = field(default_factory=lambda: Gauge("preflight_queue_age_seconds", "Age of the oldest job that waits or runs."))

    def exposition(self, queue: Queue) -> str:
        """The body of ``GET /metrics``, with the ``queue`` as it is now."""
        self.active.set(queue.active)
        self.oldest.set(queue.oldest_seconds)
        metrics = (
            self.active,
            self.oldest,
            self.deliveries,
            self.jobs,
            self.answer_seconds,
            self.step_seconds,
            self.requests,
            self.budget,
            self.redeliveries,
            self.findings,
            self.fates,
        )
        return "\n".join(line for metric in metrics for line in metric.lines()) + "\n"


def _braced(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
