"""What is in ``deploy/``, judged by the programs that will read it: Helm and Kubernetes' schemas, Prometheus, systemd.

    python -m benchmarks deploy_checks

Helm's library and the schemas come from PyPI into a temporary environment; ``promtool`` and ``systemd-analyze`` are used where they are on PATH.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import yaml

_ROOT = Path(__file__).parents[1]
_DEPLOY = _ROOT / "deploy"
_PACKAGES = ("helm-python-sdk==0.2.2", "kubernetes-validate", "PyYAML")
#: What systemd says where the program is not installed on this machine.
_NOT_HERE = "is not executable"


def main(folder: Path) -> int:
    """Run all that can be run; gives how many found something."""
    return sum((_chart(folder), _prometheus(folder), _systemd(folder)))


def _chart(folder: Path) -> bool:
    venv.create(folder / "helm", with_pip=True)
    python = folder / "helm/bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_PACKAGES], check=True)
    return subprocess.run([python, _ROOT / "benchmarks/opinion/chart.py", _DEPLOY / "helm/preflight"], check=False).returncode != 0


def _prometheus(folder: Path) -> bool:
    """The alerts, and the expressions of the dashboard as if each were a rule."""
    promtool = shutil.which("promtool")
    if promtool is None:
        print("promtool is not here: alerts and dashboard were not looked at")
        return False
    panels = json.loads((_DEPLOY / "grafana/preflight.json").read_text())["panels"]
    expressions = [target["expr"].replace("$__rate_interval", "5m") for panel in panels for target in panel["targets"]]
    rules = [{"record": f"dashboard:{number}", "expr": expression} for number, expression in enumerate(expressions)]
    dashboard = folder / "dashboard.yaml"
    dashboard.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    return subprocess.run([promtool, "check", "rules", _DEPLOY / "prometheus/alerts.yaml", dashboard], check=False).returncode != 0


def _systemd(folder: Path) -> bool:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        print("systemd-analyze is not here: the unit was not looked at")
        return False
    shutil.copy(_DEPLOY / "preflight.service", folder)
    said = subprocess.run([analyze, "verify", folder / "preflight.service"], capture_output=True, text=True, check=False).stderr.splitlines()
    wrong = [line for line in said if _NOT_HERE not in line]
    print("\n".join(wrong) or "the unit is what systemd takes")
    return bool(wrong)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="preflight-deploy-") as temporary:
        sys.exit(main(Path(temporary)))
