"""What is deployed fits the program: metrics that exist, sections that exist, commands that exist, nobody who is root."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from bot.cli.main import COMMANDS
from bot.metrics import Metrics, Queue

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
EXPRESSIONS = [target["expr"] for panel in json.loads((DEPLOY / "grafana/preflight.json").read_text())["panels"] for target in panel["targets"]]
ALERTS = [rule for group in yaml.safe_load((DEPLOY / "prometheus/alerts.yaml").read_text())["groups"] for rule in group["rules"]]


def known() -> set[str]:
    """The names that ``/metrics`` exposes, a histogram's three included."""
    metrics = Metrics()
    metrics.step_seconds.observe(1.0)
    names = re.findall(r"^# TYPE (\w+) (\w+)$", metrics.exposition(Queue(0, 0.0)), re.MULTILINE)
    return {f"{name}{suffix}" for name, kind in names for suffix in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",))}


@pytest.mark.parametrize("expression", [*EXPRESSIONS, *(alert["expr"] for alert in ALERTS)])
def test_expressions_name_metrics_that_exist(expression: str) -> None:
    assert set(re.findall(r"preflight_\w+", expression)) <= known()


def test_the_dashboard_shows_everything_that_is_measured() -> None:
    shown = {name for expression in EXPRESSIONS for name in re.findall(r"preflight_\w+", expression)}
    assert {name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") for name in known()} == {name.removesuffix("_bucket") for name in shown}


def test_every_alert_leads_to_a_section_of_the_runbook() -> None:
    headings = re.findall(r"^## (.+)$", (DEPLOY / "runbook.md").read_text(), re.MULTILINE)
    anchors = {f"runbook.md#{heading.lower().replace(' ', '-')}" for heading in headings}
    assert {alert["annotations"]["runbook"] for alert in ALERTS} <= anchors


def test_services_run_commands_that_exist_and_have_no_rights_to_spare() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    for name in ("server", "worker"):
        service = services[name]
        assert set(service["command"]) <= COMMANDS.keys()
        assert (service["read_only"], service["cap_drop"], service["security_opt"]) == (True, ["ALL"], ["no-new-privileges:true"])


def test_nobody_is_root() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    assert "\nUSER 10001:10001\n" in dockerfile
    assert dockerfile.index("USER 10001") < dockerfile.index("ENTRYPOINT")
    assert "DynamicUser=yes" in (DEPLOY / "preflight.service").read_text()
    assert "runAsNonRoot: true" in (DEPLOY / "helm/preflight/templates/deployment.yaml").read_text()


def test_the_image_holds_the_packages() -> None:
    kept = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {"analysis", "estimator", "sarif", "bot", "simulator", "pyproject.toml", "README.md", "LICENSE"} == kept
