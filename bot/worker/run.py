"""Runs a task in a worker process and waits for its answer, for so long and no longer."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bot.settings import ServerSettings
from bot.worker.wire import Task, pack

_STDERR_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Stopped:
    """The worker gave no answer; ``reason`` is a sentence for the check run, ``timed_out`` whether it was the clock."""

    reason: str
    timed_out: bool = False


async def run_task(task: Task, settings: ServerSettings) -> dict[str, Any] | Stopped:
    """The worker's answer. A cancelled call kills the worker: nobody waits for its answer any more."""
    limits = settings.limits
    process = await asyncio.create_subprocess_exec(
        *settings.worker_command,
        str(int(limits.seconds)),
        str(limits.memory_bytes),
        str(settings.sources_dir.absolute()),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.defpath, "LANG": "C.UTF-8", "PYTHONHASHSEED": "0"},
        cwd="/",
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(limits.seconds):
            _, output, errors = await asyncio.gather(_send(process, task), _read(process.stdout, limits.output_bytes), _read(process.stderr, _STDERR_BYTES))
            await process.wait()
    except TimeoutError:
        return Stopped(f"The analysis took longer than {limits.seconds:g} seconds and was stopped.", timed_out=True)
    finally:
        _kill(process)
        await process.wait()
    return _answer(process.returncode, output, errors)


async def _send(process: asyncio.subprocess.Process, task: Task) -> None:
    assert process.stdin is not None  # noqa: S101  # it was asked for
    with suppress(BrokenPipeError, ConnectionResetError):  # the worker died: its exit status says why
        for piece in pack(task):
            process.stdin.write(piece)
            await process.stdin.drain()
        process.stdin.close()


async def _read(stream: asyncio.StreamReader | None, limit: int) -> bytes | None:
    """All of ``stream``; None where it is longer than ``limit``, the rest is then read and dropped."""
    assert stream is not None  # noqa: S101  # it was asked for
    content = bytearray()
    fits = True
    while chunk := await stream.read(1 << 16):
        fits = fits and len(content) + len(chunk) <= limit
        if fits:
            content += chunk
    return bytes(content) if fits else None


def _kill(process: asyncio.subprocess.Process) -> None:
    """End the worker and whatever it started: they share a session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _answer(status: int | None, output: bytes | None, errors: bytes | None) -> dict[str, Any] | Stopped:
    if status == -signal.SIGXCPU:
        return Stopped("The analysis used more CPU time than it may and was stopped.", timed_out=True)
    if status == -signal.SIGKILL:
        return Stopped("The analysis was killed, most likely because the machine ran out of memory.")
    if status != 0:
        last = (errors or b"").decode("utf-8", "replace").strip().splitlines()[-1:]
        if last and "MemoryError" in last[0]:
            return Stopped("The analysis needed more memory than it may use and was stopped.")
        return Stopped(f"The analysis ended without a result (status {status}{': ' + last[0] if last else ''}).")
    if output is None:
        return Stopped("The analysis said more than can be stored.")
    try:
        answer: dict[str, Any] = json.loads(output)
    except ValueError:
        return Stopped("The analysis ended without a readable result.")
    return answer
