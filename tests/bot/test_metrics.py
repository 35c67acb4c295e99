"""The exposition is what Prometheus reads."""

from __future__ import annotations

from bot.metrics import Metrics, Queue


def test_exposition() -> None:
    metrics = Metrics()
    metrics.deliveries.add(event="ping", outcome='say "hi"\n')
    metrics.step_seconds.observe(0.2, kind="review", step="begin")
    metrics.step_seconds.observe(500.0, kind="review", step="begin")
    metrics.budget.set(5_000, resource="core")
    metrics.budget.set(4_321, resource="core")
    lines = metrics.exposition(Queue(3, 12.5)).splitlines()
    assert "preflight_jobs_active 3" in lines
    assert "preflight_queue_age_seconds 12.5" in lines
    assert 'preflight_github_budget_remaining{resource="core"} 4321' in lines
    assert 'preflight_deliveries_total{event="ping",outcome="say \\"hi\\"\\n"} 1' in lines
    assert 'preflight_step_seconds_bucket{kind="review",step="begin",le="0.1"} 0' in lines
    assert 'preflight_step_seconds_bucket{kind="review",step="begin",le="0.5"} 1' in lines
    assert 'preflight_step_seconds_bucket{kind="review",step="begin",le="+Inf"} 2' in lines
    assert 'preflight_step_seconds_count{kind="review",step="begin"} 2' in lines
    assert len([line for line in lines if line.startswith("# TYPE")]) == 11
