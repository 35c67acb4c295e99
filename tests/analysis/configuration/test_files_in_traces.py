"""What a trace makes of configuration files: classes and numbers that they name, switches, files that are named only at the launch."""

from __future__ import annotations

import pytest

from analysis.index import index
from analysis.library.domain import World
from analysis.library.entries import Entry
from analysis.library.running import run
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind

LOOP = """
def train(net, opt, steps, amp):
    scaler = torch.amp.GradScaler("cuda") if amp else None
    for _ in range(steps):
        loss = net(torch.ones(1)).sum()
        (scaler.scale(loss) if scaler else loss).backward()
        opt.step()
"""
HYDRA = f"""
import hydra
import torch
from hydra.utils import instantiate
{LOOP}
@hydra.main(version_base=None, config_path="conf", config_name="main")
def main(cfg):
    net = instantiate(cfg.net)
    train(net, instantiate(cfg.optimizer, net.parameters()), cfg.steps, cfg.amp)

main()
"""
CONF = {
    "conf/main.yaml": "defaults:\n  - optimizer: adam\n  - _self_\nsteps: 3\namp: false\nnet:\n  _target_: net.Net\n  bias: false\n",
    "conf/optimizer/adam.yaml": "_target_: torch.optim.Adam\nlr: 0.1\n",
    "conf/optimizer/sgd.yaml": "_target_: torch.optim.SGD\nlr: 0.1\n",
    "net.py": "import torch\nclass Net(torch.nn.Linear):\n    def __init__(self, bias):\n        super().__init__(1, 1, bias=bias)\n"
    "        self.has_bias = bias\n",
}
LAUNCHED = f"""
import sys
import torch
import yaml
{LOOP}
with open(sys.argv[1]) as file:
    cfg = yaml.safe_load(file)
net = torch.nn.Linear(cfg["inputs"], cfg["outputs"])
train(net, getattr(torch.optim, cfg["optimizer"])(net.parameters(), lr=cfg["lr"]), cfg["steps"], cfg["amp"])
"""
FILES = {
    "runs/large.yaml": "inputs: 9\noutputs: 1\noptimizer: Adam\nlr: 0.1\nsteps: 3\namp: true\n",
    "runs/small.yaml": "inputs: 1\noutputs: 1\noptimizer: Adam\nlr: 0.2\nsteps: 3\namp: true\n",
    "runs/environment.yaml": "name: env\nsteps: 100\n",
}


def events(files: dict[str, str], *, flags: bool) -> list[str]:
    snapshot = Snapshot.of({path: text.encode() for path, text in files.items()})
    ended = run(snapshot, index(snapshot), Entry("train.py"), World(flags=flags))
    assert ended is not None
    trace = ended.trace(snapshot, Entry("train.py"))
    steps = [f"{event.kind.value} {event.subject.cls.name}" for event in trace.events(Kind.FORWARD, Kind.STEP)]
    return [*steps, *(["scaled"] if any(event.value.made.op == "scale" for event in trace.events(Kind.BACKWARD)) else [])]


@pytest.mark.parametrize(("flags", "scaled"), [(True, ["scaled"]), (False, [])])
def test_hydra_makes_what_the_files_name_and_switches_may_be_turned(flags, scaled):
    assert events({"train.py": HYDRA, **CONF}, flags=flags) == ["forward Net", "step Adam"] * 3 + scaled


@pytest.mark.parametrize(("flags", "scaled"), [(True, ["scaled"]), (False, [])])
def test_what_the_files_say_that_may_be_meant_is_known(flags, scaled):
    assert events({"train.py": LAUNCHED, **FILES}, flags=flags) == ["forward Linear", "step Adam"] * 3 + scaled


def test_files_that_disagree_leave_a_setting_open():
    other = {**FILES, "runs/small.yaml": FILES["runs/small.yaml"].replace("Adam", "SGD")}
    assert "step Adam" not in events({"train.py": LAUNCHED, **other}, flags=False)


def test_what_the_script_names_itself_tells_its_file_from_those_of_its_library():
    keys = ["channels", "heads", "depth", "width", "name", "folder", "words", "split", "seed", "device", "rate"]
    words = ", ".join(keys) + " = range(11)\n"
    of_another = "".join(f"{key}: 1\n" for key in [*keys, "lr", "steps"])
    files = {"train.py": "import library\n" + LAUNCHED, "library.py": words, "runs/of_another.yaml": of_another, "runs/own.yaml": FILES["runs/large.yaml"]}
    assert events(files, flags=False) == ["forward Linear", "step Adam"] * 3


def test_arguments_of_a_class_that_is_named_are_what_is_written():
    code = """
import sys
import torch
from importlib import import_module
from omegaconf import OmegaConf

def made(cfg, *more):
    module, _, name = cfg["target"].rpartition(".")
    return getattr(import_module(module), name)(*more, **cfg.get("params", {}))

cfg = OmegaConf.load(sys.argv[1])
net = made(cfg.model)
made(cfg.optimizer, net.parameters()).step()
print(net(torch.ones(1)))
"""
    settings = "model:\n  target: net.Net\n  params:\n    bias: false\noptimizer:\n  target: torch.optim.SGD\n  params:\n    lr: 0.1\n"
    for flags in (True, False):
        snapshot = Snapshot.of({"train.py": code.encode(), "cfg.yaml": (settings + "params: 1\n").encode(), "net.py": CONF["net.py"].encode()})
        ended = run(snapshot, index(snapshot), Entry("train.py"), World(flags=flags))
        assert ended is not None
        (step,) = ended.trace(snapshot, Entry("train.py")).events(Kind.STEP)
        (forward,) = ended.trace(snapshot, Entry("train.py")).events(Kind.FORWARD)
        assert (step.subject.cls.name, forward.subject.cls.name) == ("SGD", "Net")
        assert forward.subject.fields["has_bias"] is False
