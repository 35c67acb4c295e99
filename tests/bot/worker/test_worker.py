"""The worker finds no secret, no network and no way to outlast its limits."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.snapshot import Snapshot
from bot.settings import ServerSettings, WorkerLimits
from bot.worker.landlock import shut_in
from bot.worker.run import Stopped, run_task
from bot.worker.wire import Task, pack, unpack
from tests.bot.sources.test_release import USES_IT, stocked
from tests.bot.waiting import until

BASE = Snapshot.of({"train.py": b"x = 1\n", "shared.py": b"y = 2\n"}, "b" * 40)
HEAD = Snapshot(frozenset({"train.py", "shared.py", "picture.png"}), {"train.py": b"x = 3\n", "shared.py": b"y = 2\n"}, "a" * 40)
TASK = Task("review", BASE, HEAD, {"pyproject.toml": b"[tool.preflight]\n"}, "c" * 40)


def settings(folder: Path, program: str, limits: WorkerLimits = WorkerLimits(seconds=30)) -> ServerSettings:  # noqa: B008
    script = folder / "worker.py"
    script.write_text(f"import json, os, sys\nfrom bot.worker.confinement import confine\n{program}\n")
    made = ServerSettings(app_id=1, private_key="key", webhook_secrets=(b"secret",), state_dir=folder, limits=limits)
    return replace(made, worker_command=(sys.executable, "-I", str(script)))


def test_a_task_arrives_as_it_was_sent() -> None:
    packed = b"".join(pack(TASK))
    assert packed.count(b"y = 2\n") == 1
    received = unpack(io.BytesIO(packed))
    for sent, got in ((BASE, received.base), (HEAD, received.head)):
        assert (got.paths, got.contents, got.commit) == (sent.paths, sent.contents, sent.commit)
    assert (received.what, received.configuration, received.base_tip) == (TASK.what, TASK.configuration, TASK.base_tip)
    with pytest.raises(ValueError, match="ends in the middle"):
        unpack(io.BytesIO(packed[:-1]))


async def test_no_secret_is_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFLIGHT_PRIVATE_KEY", "hidden")
    answer = await run_task(TASK, settings(tmp_path, "sys.stdin.buffer.read(); json.dump({'env': dict(os.environ), 'cwd': os.getcwd()}, sys.stdout)"))
    assert isinstance(answer, dict)
    assert set(answer["env"]) <= {"PATH", "LANG", "PYTHONHASHSEED", "LC_CTYPE"}
    assert answer["cwd"] == "/"


async def test_no_network(tmp_path: Path) -> None:
    program = """
sys.stdin.buffer.read()
cut = confine(20, 1 << 30)
import socket
listener = socket.socket()
try:
    listener.connect(("127.0.0.1", int(sys.argv[-1]) if False else PORT))
    reached = True
except OSError:
    reached = False
json.dump({"cut": cut, "reached": reached}, sys.stdout)
"""
    async with await asyncio.start_server(lambda _reader, writer: writer.close(), "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        answer = await run_task(TASK, settings(tmp_path, program.replace("PORT", str(port))))
    assert isinstance(answer, dict)
    if not answer["cut"]:
        pytest.skip("this kernel gives ordinary users no namespaces: the deployment has to cut the network off")
    assert not answer["reached"]


async def test_files_cannot_be_written(tmp_path: Path) -> None:
    target = tmp_path / "written"
    program = f"sys.stdin.buffer.read(); confine(20, 1 << 30)\nopen({str(target)!r}, 'w').write('x')"
    answer = await run_task(TASK, settings(tmp_path, program))
    assert isinstance(answer, Stopped)
    assert not target.exists() or target.read_bytes() == b""


@pytest.mark.parametrize(
    ("program", "reason", "timed_out"),
    [
        ("sys.stdin.buffer.read(); import time; time.sleep(60)", "longer than 1 seconds", True),
        ("confine(1, 1 << 30)\nwhile True: pass", "more CPU time", True),
        ("confine(20, 300 << 20); x = bytearray(1 << 30)", "more memory", False),
        ("sys.exit(3)", "without a result (status 3)", False),
        ("sys.stdin.buffer.read(); print('no JSON')", "without a readable result", False),
        ("sys.stdin.buffer.read(); print('x' * 5000)", "more than can be stored", False),
    ],
)
async def test_a_worker_that_fails_says_why(tmp_path: Path, program: str, reason: str, timed_out: bool) -> None:  # noqa: FBT001
    limits = WorkerLimits(seconds=1 if "sleep" in program else 30, output_bytes=4_000)
    answer = await run_task(TASK, settings(tmp_path, program, limits))
    assert isinstance(answer, Stopped)
    assert reason in answer.reason
    assert answer.timed_out == timed_out


async def test_a_cancelled_call_kills_the_worker_and_its_children(tmp_path: Path) -> None:
    noted = tmp_path / "pids"
    program = f"""
import subprocess, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
open({str(noted)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
time.sleep(60)
"""
    running = asyncio.create_task(run_task(TASK, settings(tmp_path, program)))
    await until(lambda: noted.exists() and noted.read_text())
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await until(lambda: not any(_alive(pid) for pid in map(int, noted.read_text().split())))


def _alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not yet reaped does not."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"


async def test_nothing_else_of_the_machine_can_be_read_changed_or_stopped(tmp_path: Path) -> None:
    program = """
sys.stdin.buffer.read()
import json.decoder, socket, subprocess
from pathlib import Path
outside = "OUTSIDE"
before = confine(20, 4 << 30, Path(sys.argv[-1]))
def tried(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    return "done"
json.dump({
    "reading a key": tried(lambda: open(outside + "/key.pem").read()),
    "listing": tried(lambda: os.listdir(outside)),
    "removing": tried(lambda: os.remove(outside + "/key.pem")),
    "moving": tried(lambda: os.rename(outside + "/key.pem", outside + "/gone")),
    "making a folder": tried(lambda: os.mkdir(outside + "/made")),
    "stopping the server": tried(lambda: os.kill(os.getppid(), 0)),
    "reading the server's environment": tried(lambda: open(f"/proc/{os.getppid()}/environ", "rb").read()),
    "connecting": tried(lambda: socket.create_connection(("127.0.0.1", 9), 1)),
    "reading our own code": tried(lambda: open(json.decoder.__file__).read()),
    "starting Python": tried(lambda: subprocess.run([sys.executable, "-I", "-c", "import libcst"], check=True, stdout=subprocess.DEVNULL)),
    "asking for the load": tried(os.getloadavg),
    "reading a library's source": tried(lambda: open(sys.argv[-1] + "/timm/1.0.2/timm/__init__.py").read()),
    "changing a library's source": tried(lambda: os.remove(sys.argv[-1] + "/timm/1.0.2/timm/__init__.py")),
}, sys.stdout)
"""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "key.pem").write_text("secret")
    if not landlock_is_here():
        pytest.skip("this kernel has no Landlock")
    made = replace(settings(tmp_path, program.replace("OUTSIDE", str(outside))), sources_dir=stocked(tmp_path / "sources", "1.0.2"))
    found = await run_task(TASK, made)
    assert isinstance(found, dict)
    allowed = {"reading our own code", "starting Python", "asking for the load", "reading a library's source"}
    assert {name for name, ended in found.items() if ended == "done"} == allowed
    assert [path.name for path in outside.iterdir()] == ["key.pem"]


def landlock_is_here() -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0 if shut_in() else 1)
    return os.waitpid(child, 0)[1] == 0


async def test_the_base_is_looked_at_apart_where_the_machine_has_nothing_else_to_do(tmp_path: Path) -> None:
    program = """
from pathlib import Path
from bot.sources.release import LocalShelf
from bot.worker import tasks
from bot.worker.wire import unpack
forks, fork = [], os.fork
os.fork = lambda: forks.append(1) or fork()
os.getloadavg = lambda: (LOAD, 0.0, 0.0)
os.sched_getaffinity = lambda _: {0, 1}
confine(20, 4 << 30, Path(sys.argv[-1]))
answer = tasks.review_task(unpack(sys.stdin.buffer), LocalShelf(Path(sys.argv[-1])))
json.dump({"forks": len(forks), "review": answer["review"]}, sys.stdout)
"""
    code = "import torch\nmodel = torch.nn.Linear(2, 2)\nfor _ in range(9):\n    model(torch.ones(2)).sum().backward()\n"
    task = replace(TASK, base=Snapshot.of({"train.py": code.encode()}, "b" * 40), head=Snapshot.of({"train.py": f"{code}print(model)\n".encode()}, "a" * 40))
    idle, busy = [await run_task(task, settings(tmp_path, program.replace("LOAD", load))) for load in ("0.5", "2.0")]
    assert isinstance(idle, dict)
    assert isinstance(busy, dict)
    assert (idle["forks"], busy["forks"]) == (1, 0)
    assert idle["review"] == busy["review"]
    assert idle["review"]["files"] == 1


async def test_a_model_is_read_from_the_source_that_the_operator_has(tmp_path: Path) -> None:
    script = Snapshot.of({"train.py": USES_IT.encode()}, "a" * 40)
    made = ServerSettings(app_id=1, private_key="key", webhook_secrets=(b"secret",), state_dir=tmp_path, sources_dir=tmp_path / "sources")
    asked = Task("estimate", BASE, script, {}, arguments=("train.py",))
    without = await run_task(asked, made)
    stocked(made.sources_dir, "1.0.2")
    answer = await run_task(asked, made)
    assert isinstance(without, dict)
    assert isinstance(answer, dict)
    assert without["estimates"][0]["peak_bytes"] is None
    assert answer["estimates"][0]["allocated_bytes"] > 4 * 4 * 2 * 8 * 1024**2
