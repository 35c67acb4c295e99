"""The house rules: sizes, names, docstrings, who may import whom, and that what the project publishes about itself is so."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
INSTALLED = ("analysis", "estimator", "sarif", "bot", "simulator")
PACKAGES = (*INSTALLED, "corpus")
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 50
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "base", "core"}
#: PyTorch source that the interpreter reads as data mirrors libraries, not this house.
GUEST_SOURCE = "guest"


def _sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in sorted((ROOT / folder).rglob("*.py")) if GUEST_SOURCE not in path.parts)


def _shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_files_are_short() -> None:
    lengths = {_shown(path): len(path.read_bytes().splitlines()) for path in _sources(*PACKAGES, "tests")}

    assert {path: length for path, length in lengths.items() if length > MAX_FILE_LINES} == {}
    ours = sorted(length for path, length in lengths.items() if not path.startswith("tests/"))
    assert ours[len(ours) // 2] < 150


def test_functions_fit_a_screen() -> None:
    long = {
        f"{_shown(path)}:{node.lineno} {node.name}": (node.end_lineno or 0) - node.lineno + 1
        for path in _sources(*PACKAGES)
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (node.end_lineno or 0) - node.lineno + 1 > MAX_FUNCTION_LINES
    }

    assert long == {}


def test_no_name_says_nothing() -> None:
    assert [_shown(path) for path in _sources(*PACKAGES, "tests") if path.stem in FORBIDDEN_NAMES or path.parent.name in FORBIDDEN_NAMES] == []


def test_every_module_says_what_it_is() -> None:
    assert [_shown(path) for path in _sources(*PACKAGES) if not ast.get_docstring(ast.parse(path.read_bytes()))] == []


def test_what_rules_share_is_shared() -> None:
    shared = {path.stem for path in (ROOT / "analysis" / "rules").glob("_*.py") if path.stem != "__init__"}
    imported = {
        node.module.rpartition(".")[2]
        for path in _sources(*PACKAGES)
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.ImportFrom) and node.module
    }

    assert shared - imported == set()


def test_imports_keep_the_contracts() -> None:
    done = subprocess.run([Path(sys.executable).parent / "lint-imports", "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("package", ["analysis", "estimator", "sarif"])
def test_the_pure_packages_open_nothing(package: str) -> None:
    """Beyond what import contracts can say: no call of ``open``, no ``urllib`` but its parser of names."""
    found = [
        f"{_shown(path)}:{node.lineno}"
        for path in _sources(package)
        for node in ast.walk(ast.parse(path.read_bytes()))
        if (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open")
        or (isinstance(node, ast.ImportFrom) and (node.module or "").startswith("urllib") and node.module != "urllib.parse")
        or (isinstance(node, ast.Import) and any(name.name.startswith("urllib") for name in node.names))
    ]

    assert found == []


def test_nothing_is_left_to_do_later() -> None:
    marks = re.compile(rb"\b(TODO|FIXME|XXX|HACK)\b")

    assert [_shown(path) for path in _sources(*PACKAGES) if marks.search(path.read_bytes())] == []


def test_no_file_knows_a_place_of_one_machine() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    place = re.compile(rb"(?<![\w.])/(work|root|home)/\w")
    texts = (ROOT / path.decode() for path in listed if path.endswith((b".py", b".md", b".toml", b".yml", b".yaml", b".html", b"Makefile")))

    assert [_shown(path) for path in texts if path.exists() and place.search(path.read_bytes())] == []


def _yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


def test_the_app_asks_for_exactly_these_permissions() -> None:
    manifest = _yaml("app.yml")

    assert manifest["default_permissions"] == {"metadata": "read", "contents": "read", "pull_requests": "write", "checks": "write", "merge_queues": "read"}
    assert manifest["default_events"] == ["pull_request", "issue_comment", "check_run", "check_suite", "push", "merge_group"]
    assert manifest["public"] is False


def test_the_action_interpolates_nothing_into_its_scripts() -> None:
    steps = _yaml("action.yml")["runs"]["steps"]

    assert steps
    assert all("${{" not in step["run"] for step in steps)
    assert all("uses" not in step for step in steps)


def test_every_input_of_the_action_reaches_the_command() -> None:
    action = _yaml("action.yml")
    check = action["runs"]["steps"][-1]
    passed = {name: variable for variable, value in check["env"].items() for name in re.findall(r"inputs\.([\w-]+)", value)}

    assert passed.keys() == action["inputs"].keys()
    assert all(f"${variable}" in check["run"] for variable in passed.values())


def test_the_hooks_call_the_command() -> None:
    hooks = _yaml(".pre-commit-hooks.yaml")

    assert {hook["entry"] for hook in hooks} == {"preflight check", "preflight check --fix"}
    assert all(hook["language"] == "python" for hook in hooks)


def test_the_wheel_holds_the_packages_and_nothing_else() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())

    assert tuple(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == INSTALLED
    assert project["project"]["scripts"] == {"preflight": "bot.cli.main:process"}


def test_the_base_install_is_light() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[\s>=<\[]", line)[0].lower() for line in project["dependencies"]}

    assert names == {"greenlet", "libcst", "pyyaml"}
