"""Where runs begin."""

from __future__ import annotations

from analysis.index import index
from analysis.library.program import trace_program
from analysis.snapshot import Snapshot
from analysis.trace.events import Kind


def entries_of(**files: str) -> list[tuple[str, str]]:
    snapshot = Snapshot.of({f"{name}.py": text.encode() for name, text in files.items()})
    return list(dict.fromkeys((trace.path, trace.function) for trace in trace_program(snapshot, index(snapshot), snapshot.contents)))


TRAIN = "import torch\ndef train(model, optimizer, x):\n    model(x).sum().backward()\n    optimizer.step()\n"


def test_a_function_that_a_script_reached_is_no_entry():
    main = "import torch\nfrom helper import train\nif __name__ == '__main__':\n    net = torch.nn.Linear(1, 1)\n"
    call = "    train(net, torch.optim.SGD(net.parameters()), torch.zeros(1, 1))\n"
    assert entries_of(helper=TRAIN, main=main + call) == [("main.py", "")]
    assert entries_of(helper=TRAIN, main=main) == [("main.py", ""), ("helper.py", "train")]


def test_callers_come_before_what_they_call():
    caller = "\ndef fit(model, optimizer, loader):\n    for x in loader:\n        train(model, optimizer, x)\n"
    assert entries_of(helper=TRAIN + caller) == [("helper.py", "fit")]


def test_a_function_inside_another_is_run_through_that_one():
    inner = "    def closure():\n        net(1).sum().backward()\n    opt.step(closure)\n"
    code = f"import torch\ndef solve(net):\n    opt = torch.optim.LBFGS(net.parameters())\n{inner}"
    assert entries_of(solver=code) == [("solver.py", "solve")]


def test_a_hook_is_run_by_its_framework():
    code = (
        "import lightning.pytorch as pl\nimport torch\nclass Lit(pl.LightningModule):\n    def __init__(self):\n        super().__init__()\n"
        "        self.net = torch.nn.Linear(1, 1)\n    def training_step(self, batch, index):\n        return self.net(batch).sum()\n"
        "    def configure_optimizers(self):\n        return torch.optim.SGD(self.parameters())\n"
    )
    assert entries_of(lit=code) == [("lit.py", "Lit")]


def test_a_module_that_keeps_state_gets_a_loop():
    layer = "from torch import nn\nclass {name}(nn.Module):\n    def forward(self, x):\n        {body}\n        return x\n"
    assert entries_of(layers=layer.format(name="Kept", body="self.last = x")) == [("layers.py", "Kept")]
    assert entries_of(layers=layer.format(name="Plain", body="y = x")) == []


def test_tests_are_no_entries():
    snapshot = Snapshot.of({"tests/test_train.py": TRAIN.encode(), "test_more.py": TRAIN.encode()})
    assert list(trace_program(snapshot, index(snapshot), snapshot.contents)) == []


def test_a_meter_that_asks_other_ranks_is_measured_with():
    meter = (
        "import torch\nimport torch.distributed as dist\nclass Meter:\n    total = 0\n    def update(self, x):\n        {}\n"
        "        self.total = self.total + x\n    def compute(self):\n        return self.total\n"
    )
    assert entries_of(meter=meter.format("dist.all_reduce(x)")) == [("meter.py", "Meter")]
    assert entries_of(meter=meter.format("pass")) == []


def test_a_changed_module_whose_option_for_more_layers_was_left_off_gets_a_loop():
    code = (
        "import torch\nfrom torch import nn\nclass Net(nn.Module):\n    def __init__(self, more=False):\n        super().__init__()\n"
        "        self.head = nn.Linear(1, 1)\n        self.more = {}\n        if more:\n            self.more.append(nn.Linear(1, 1))\n"
        "    def forward(self, x):\n        for each in self.more:\n            x = each(x)\n"
        "        return self.head(x)\nnet = Net()\nopt = torch.optim.SGD(net.parameters())\nnet(torch.ones(1)).sum().backward()\nopt.step()\n"
    )
    for made, run in (("[]", [("net.py", ""), ("net.py", "Net")]), ("nn.ModuleList()", [("net.py", "")])):
        snapshot = Snapshot.of({"net.py": code.format(made).encode()})
        traces = trace_program(snapshot, index(snapshot), snapshot.contents, snapshot.contents)
        assert list(dict.fromkeys((trace.path, trace.function) for trace in traces)) == run


def test_a_changed_handler_is_attached_to_a_loop_that_trains():
    handler = (
        "from ignite.engine import Events\nclass Saver:\n    def __init__(self):\n        self.outputs = []\n    def attach(self, engine):\n"
        "        engine.{}(Events.ITERATION_COMPLETED, self)\n    def __call__(self, engine):\n        self.outputs.append(engine.state.output)\n"
    )
    for call, kinds in (("add_event_handler", ["step", "store"]), ("register", [])):
        snapshot = Snapshot.of({"saver.py": handler.format(call).encode()})
        found = [event for trace in trace_program(snapshot, index(snapshot), snapshot.contents, snapshot.contents) for event in trace.events_in_order()]
        assert sorted({event.kind.value for event in found if event.kind.value in {"step", "store"}}) == kinds


def test_a_changed_callback_is_called_by_a_trainer():
    code = (
        "import torch\nimport lightning.pytorch as pl\nclass Samples(pl.Callback):\n    def on_train_batch_end(self, trainer, pl_module, *rest):\n"
        "        pl_module.eval()\n        with torch.no_grad():\n            pl_module(1)\n"
    )
    snapshot = Snapshot.of({"samples.py": code.encode()})
    for changed, function in ((["samples.py"], "Samples"), ([], "Samples.on_train_batch_end")):
        traces = list(trace_program(snapshot, index(snapshot), snapshot.contents, changed))
        assert {trace.function for trace in traces} == {function}
        assert all(any(trace.events(Kind.BACKWARD)) == bool(changed) for trace in traces)


def test_what_tests_is_run_for_nobody():
    code = b"import torch\nnet = torch.nn.Linear(1, 1)\nnet(torch.ones(1)).sum().backward()\n"
    for path, runs in (("models/case.py", True), ("models/model_test_case.py", False), ("models/_test_models.py", False), ("tests/case.py", False)):
        snapshot = Snapshot.of({path: code})
        traces = trace_program(snapshot, index(snapshot), snapshot.contents)
        assert any(any(trace.events(Kind.BACKWARD)) for trace in traces) is runs
