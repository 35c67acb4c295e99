"""The page about rules of one's own: its packages are installed as they stand there, and do what the page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "rules-of-your-own.md"
PROJECT, RULE, TRIAL, SUBJECT = re.findall(r"```(?:toml|python)\n(.*?)```", PAGE.read_text(), re.DOTALL)

TRAIN = """import housetools
import torch

def main():
    torch.manual_seed(0)
    net = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(torch.load("rows.pt"), shuffle=True):
        housetools.descend(housetools.scores(net(x)).sum())
        torch.nn.utils.clip_grad_norm_(net.parameters(), 0.001)
        optimizer.step()

if __name__ == "__main__":
    main()
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Both packages as an installer leaves them: modules, and a folder with their metadata."""
    folder = tmp_path / "site"
    project = tomllib.loads(PROJECT)["project"]
    points = [f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in rows.items()) for group, rows in project["entry-points"].items()]
    _install(folder, project["name"], "house_rules", RULE, "".join(points))
    _install(folder, "house-tools", "house_tools_for_preflight", SUBJECT, "[preflight.library]\nhousetools = house_tools_for_preflight:SUBJECT\n")
    return folder


def _install(folder: Path, name: str, module: str, source: str, points: str) -> None:
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / f"{module}.py").write_text(source)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(points)


def _run(packages: Path, *words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(packages), str(PAGE.parent.parent)))}
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, env=environment, cwd=folder)


def test_a_rule_is_complete_in_thirty_lines() -> None:
    assert len(PROJECT.splitlines()) + len(RULE.splitlines()) <= 30


def test_it_is_listed_and_explained(packages: Path) -> None:
    rules = json.loads(_run(packages, "-m", "bot.cli", "rules", "--format", "json").stdout)["rules"]
    assert {"name": "tiny-clip", "severity": "warning", "summary": "gradients are clipped to almost nothing"} in rules
    page = _run(packages, "-m", "bot.cli", "explain", "tiny-clip").stdout
    assert "slip of the decimal point" in page
    assert page.count("Left alone:") == 2


def test_its_examples_are_tested_as_the_page_says(packages: Path) -> None:
    done = _run(packages, "-c", TRIAL)
    assert done.returncode == 0, done.stderr


def test_it_finds_and_the_library_is_understood(packages: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(TRAIN)
    found = json.loads(_run(packages, "-m", "bot.cli", "check", "--format", "json", folder=project).stdout)
    assert {"tiny-clip", "missing-zero-grad"} <= {each["rule"] for each in found["findings"]}
    without = json.loads(_run(project, "-m", "bot.cli", "check", "--format", "json", folder=project).stdout)
    assert "tiny-clip" not in {each["rule"] for each in without["findings"]}
    silenced = TRAIN.replace(", 0.001)", ", 0.001)  # preflight: ignore[tiny-clip] on purpose")
    (project / "train.py").write_text(silenced)
    report = json.loads(_run(packages, "-m", "bot.cli", "check", "--format", "json", folder=project).stdout)
    assert report["suppressed_by_rule"] == {"tiny-clip": 1}


def test_a_package_that_is_broken_is_named(packages: Path, tmp_path: Path) -> None:
    (packages / "house_tools_for_preflight.py").write_text("SUBJECT = 1\n")
    (tmp_path / "train.py").write_text(TRAIN)
    done = _run(packages, "-m", "bot.cli", "check", str(tmp_path / "train.py"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "preflight check: the entry point housetools of the package house-tools is not a Subject\n"
