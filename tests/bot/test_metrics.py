"""The exposition is what Prometheus reads."""

from __future__ import annotations

from bot.metrics import Metrics


def test_exposition() -> None:
    metrics = Metrics()
    metrics.deliveries.add(event="ping", outcome='say "hi"\n')
    metrics.step_seconds.observe(0.2, kind="review", step="begin")
    metrics.step_seconds.observe(500.0, kind="review", step="begin")
    lines = metrics.exposition(3).splitlines()
    assert "preflight_jobs_active 3" in lines
    assert 'preflight_deliveries_total{event="ping",outcome="say \\"hi\\"\\n"} 1' in lines
    assert 'preflight_step_seconds_bucket{kind="review",step="begin",le="0.1"} 0' in lines
    assert 'preflight_step_seconds_bucket{kind="review",step="begin",le="0.5"} 1' in lines
    assert 'preflight_step_seconds_bucket{kind="review",step="begin",le="+Inf"} 2' in lines
    assert 'preflight_step_seconds_count{kind="review",step="begin"} 2' in lines
    assert len([line for line in lines if line.startswith("# TYPE")]) == 5
