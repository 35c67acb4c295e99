"""``preflight check`` on folders that hold files made to break it: each within its limits, named or read, and its neighbours as without it."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

CPU_SECONDS = 10
ADDRESS_SPACE = 1 << 30
#: Only so that a hang ends: what a run may take is bounded in CPU seconds.
HANGS_AFTER = 240

TRAINING = b"""import torch
torch.manual_seed(0)
model = torch.nn.Linear(10, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for _ in range(100):
    model(torch.randn(4, 10)).sum().backward()
    optimizer.step()
"""
LOOPS = (
    b"import torch\nmodel = torch.nn.Linear(1, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=1)\n"
    + b"".join(b" " * depth + b"for i%d in range(100):\n" % depth for depth in range(18))
    + b"".join(b" " * 18 + b"model(torch.ones(1, 1)).sum().backward()\n" for _ in range(500))
    + b" " * 18
    + b"optimizer.step()\n"
)
TORCH = b"import torch\n"

#: What is written, and how the reason begins with which it is not analysed ("": it is).
FILES: dict[str, tuple[bytes, str]] = {
    "5,000 parentheses": (TORCH + b"x = " + b"(" * 5_000 + b"1" + b")" * 5_000, "not valid Python"),
    "20,000 minuses": (TORCH + b"x = " + b"-" * 20_000 + b"1\n", "expressions nested"),
    "20,000 terms": (TORCH + b"x = " + b" + ".join([b"a"] * 20_000) + b"\n", "expressions nested"),
    "9,000 plus one": (TORCH + b"x = 1" + b" + 1" * 9_000 + b"\n", "expressions nested"),
    "2,000 elifs": (b"import sys\na = len(sys.argv)\nif a == 0: pass\n" + b"".join(b"elif a == %d: x = %d\n" % (i, i) for i in range(2_000)) + TRAINING, ""),
    "18 loops of 500 backwards": (LOOPS, ""),
    "10 MB": (TORCH + b"x = 1\n" * 1_700_000, "larger than 1 MB"),
    "an 800 KB literal": (b"x = [" + b"123456, " * 100_000 + b"]\n" + TRAINING, ""),
    "an 800 KB text": (b"x = '''" + b"a b\n" * 200_000 + b"'''\n" + TRAINING, ""),
    "NUL": (TORCH + b"x = '\x00'\n", "holds NUL bytes"),
    "UTF-16": (TRAINING.decode().encode("utf-16"), "is UTF-16"),
    "Latin-1 with its cookie": (b"# -*- coding: latin-1 -*-\nname = '\xe9'\n" + TRAINING, ""),
    "a BOM": (b"\xef\xbb\xbf" + TRAINING, ""),
    "CR": (TRAINING.replace(b"\n", b"\r"), ""),
    "CRLF": (TRAINING.replace(b"\n", b"\r\n"), ""),
    "Python 2": (TORCH + b"print 'x'\n", "not valid Python"),
    "syntax of the future": (TORCH + b"def f[T = int](x: T) -> q'{x}': ...\n", "not valid Python"),
}


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def _check(folder: Path) -> dict[str, list[dict[str, object]]]:
    done = subprocess.run(
        [sys.executable, "-m", "bot.cli", "check", "--format", "json"],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=HANGS_AFTER,
        preexec_fn=_limited,
    )
    assert done.returncode in {0, 1}, done.stderr.decode()[-500:]
    assert b"Traceback" not in done.stderr
    found: dict[str, list[dict[str, object]]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    findings = _check(_neighbours(tmp_path_factory.mktemp("alone")))["findings"]
    assert [each["rule"] for each in findings] == ["missing-zero-grad", "missing-zero-grad"]
    assert all(each["fix"] for each in findings)
    return findings


def _neighbours(folder: Path) -> Path:
    (folder / ".git").mkdir()
    for name in ("a.py", "z.py"):
        (folder / name).write_bytes(TRAINING)
    return folder


def _of_neighbours(found: dict[str, list[dict[str, object]]]) -> list[dict[str, object]]:
    return [each for each in found["findings"] if each["path"] in {"a.py", "z.py"}]


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_read_or_named(name: str, tmp_path: Path, alone: list[dict[str, object]]) -> None:
    content, reason = FILES[name]
    (_neighbours(tmp_path) / "hostile.py").write_bytes(content)
    found = _check(tmp_path)
    assert _of_neighbours(found) == alone
    assert [each["path"] for each in found["not_analysed"]] == (["hostile.py"] if reason else [])
    assert all(str(each["message"]).startswith(reason) for each in found["not_analysed"])
    if content.endswith(TRAINING[-20:]) or TRAINING in content:
        assert "missing-zero-grad" in {each["rule"] for each in found["findings"] if each["path"] == "hostile.py"}


def _fifo(folder: Path) -> None:
    os.mkfifo(folder / "x.py")


def _folder(folder: Path) -> None:
    (folder / "x.py").mkdir()
    (folder / "x.py" / "inner.py").write_bytes(b"x = 1\n")


def _loops(folder: Path) -> None:
    (folder / "x.py").symlink_to("x.py")
    (folder / "down").mkdir()
    (folder / "down" / "up").symlink_to("..")


def _unreadable(folder: Path) -> None:
    (folder / "x.py").symlink_to("/proc/self/mem")


@pytest.mark.parametrize(
    ("make", "named"),
    [(_fifo, "is not a regular file"), (_folder, None), (_loops, "cannot be read: "), (_unreadable, "is a link out of the repository")],
)
def test_what_is_no_file_stops_nothing(make: Callable[[Path], None], named: str | None, tmp_path: Path, alone: list[dict[str, object]]) -> None:
    make(_neighbours(tmp_path))
    found = _check(tmp_path)
    assert _of_neighbours(found) == alone
    assert [each["path"] for each in found["not_analysed"]] == ([] if named is None else ["x.py"])
    assert all(str(each["message"]).startswith(str(named)) for each in found["not_analysed"])


@pytest.mark.parametrize("skipped", ["build", "dist", "env"])
def test_a_folder_that_is_passed_over_is_named_and_only_below_the_root(skipped: str, tmp_path: Path, alone: list[dict[str, object]]) -> None:
    root = tmp_path / skipped / "project"
    root.mkdir(parents=True)
    inner = _neighbours(root) / skipped
    inner.mkdir()
    (inner / "x.py").write_bytes(TRAINING)
    done = subprocess.run([sys.executable, "-m", "bot.cli", "check", "--format", "json"], cwd=root, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["findings"] == alone
    assert f"passed over: {skipped}/" in done.stderr
