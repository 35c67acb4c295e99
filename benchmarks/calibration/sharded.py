"""Rank 0's peak of a program that trains over several devices, by PyTorch's own wrappers on a process group that only pretends to communicate.

usage: run.sh sharded.py [--write] [WORD…]   (rows whose words hold all of these)
"""

import contextlib
import functools
import json
import os
import runpy
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.parallel.distributed
from reproduce import made_for_fakes
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import _common_utils
from torch.distributed.fsdp._fully_shard import _fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore
from tracker import Tracker

_FOLDER = Path(__file__).parent.parent / "references" / "sharded"
#: More than this share apart, a row is not reproduced.
_TOLERANCE = 0.001


class _Stream:
    """A stream, or an event on one: without a device what is asked of it is done at once."""

    def __init__(self, *_args: Any, **_options: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_args, **_options: _Stream()


class _Device:
    """``torch.cuda`` as a machine with a device has it."""

    def __getattr__(self, name: str) -> Any:
        return (lambda: True) if name == "is_available" else getattr(torch.cuda, name)


def _made_for_one_process(world: int) -> None:
    """Where the wrappers ask for a device, a stream or another rank, what rank 0 would find."""
    os.environ |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": str(world)}
    for name in ("Stream", "Event"):
        setattr(torch.cuda, name, _Stream)
    torch.cuda.current_stream = torch.cuda.default_stream = _Stream
    torch.cuda.stream = lambda _stream: contextlib.nullcontext()
    torch.cuda.set_device = torch.cuda.synchronize = lambda *_: None
    torch.cuda.current_device = lambda: 0
    torch.cuda.device_count = lambda: world
    torch.Tensor.record_stream = lambda *_: None
    parallel = torch.nn.parallel.distributed
    parallel._verify_param_shape_across_processes = parallel._sync_module_states = lambda *_args, **_options: None
    _common_utils._FSDPDeviceHandle.from_device = lambda _device: _Device()
    dist.init_process_group("fake", rank=0, world_size=world, store=FakeStore())
    dist.init_process_group = lambda *_args, **_options: None
    mesh = init_device_mesh("cuda", (world,))
    _fully_shard._init_default_mesh = lambda *_args, **_options: mesh


def _reduced(_state: object, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """A communication hook that leaves a bucket as it is: the pretended group's own gives nothing back."""
    future: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


def _watched(tracker: Tracker) -> None:
    """Have PyTorch say when backward runs, that a step was made, and which storage was given back or taken again."""
    backward, step, resize = torch.Tensor.backward, torch.optim.AdamW.step, torch.UntypedStorage.resize_

    def in_backward(self: Any, *args: Any, **options: Any) -> None:
        tracker.phase = "backward"
        backward(self, *args, **options)
        tracker.phase = "forward"

    def counted(self: Any, *args: Any, **options: Any) -> None:
        step(self, *args, **options)
        if not tracker.steps:
            tracker.memory.peak_allocated = tracker.memory.allocated
        tracker.steps += 1

    def resized(self: Any, size: int) -> Any:
        found = resize(self, size)
        tracker.resized(self)
        return found

    torch.Tensor.backward, torch.optim.AdamW.step, torch.UntypedStorage.resize_ = in_backward, counted, resized


def _reduces_in_place() -> None:
    """Give every ``DistributedDataParallel`` the hook above."""
    plain = torch.nn.parallel.DistributedDataParallel.__init__

    @functools.wraps(plain)
    def with_hook(self: Any, *args: Any, **options: Any) -> None:
        plain(self, *args, **options)
        self.register_comm_hook(None, _reduced)

    torch.nn.parallel.DistributedDataParallel.__init__ = with_hook


def peak(words: list[str], world: int) -> int:
    """Bytes allocated at the peak of the last two of three steps."""
    made_for_fakes()
    _made_for_one_process(world)
    _reduces_in_place()
    tracker = Tracker()
    _watched(tracker)
    sys.argv = ["train.py", *words]
    with FakeTensorMode(allow_non_fake_inputs=True), tracker:
        runpy.run_path(str(_FOLDER / "guest" / "train.py"), run_name="__main__")
    return tracker.memory.peak_allocated


def main(words: list[str]) -> int:
    """Make the rows whose words hold all of these, each in a process of its own; 1 if one differs from what is stored by more than a thousandth."""
    if words[:1] == ["--row"]:
        print(peak(words[2:], int(words[1])))
        return 0
    stored = json.loads((_FOLDER / "rows.json").read_text(encoding="utf-8"))
    wrong = 0
    for row in stored["rows"]:
        if all(word in row["words"] for word in words if word != "--write"):
            command = [sys.executable, __file__, "--row", str(row["devices"]), *row["words"]]
            found = int(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])
            error = found / row["allocated"] - 1 if row["allocated"] else 0.0
            wrong += abs(error) > _TOLERANCE
            print(f"{row['devices']} {' '.join(row['words']):40} {found:>14,} stored {row['allocated']:>14,} {error:+.3%}", flush=True)
            row["allocated"] = found
    if "--write" in words:
        lines = ",\n".join(f"    {json.dumps(row)}" for row in stored["rows"])
        (_FOLDER / "rows.json").write_text(f'{{\n  "from": {json.dumps(stored["from"])},\n  "rows": [\n{lines}\n  ]\n}}\n', encoding="utf-8")
        return 0
    return int(wrong > 0)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    sys.exit(main(sys.argv[1:]))
