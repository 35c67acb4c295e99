"""Imports, positions and the text of other files."""

import pytest

from analysis.interpreter.machine import Machine
from analysis.interpreter.signals import StopRun
from analysis.interpreter.values import External
from analysis.snapshot import Snapshot
from tests.analysis.interpreter.plain import PlainDomain, run


def test_modules_of_the_repository_are_loaded_once():
    main = "import helper\nfrom helper import seen as again\nfrom pkg import part\nr = (helper.seen is again, part.x)"
    package = {"pkg/__init__.py": "", "pkg/part.py": "from . import other\nx = other.y", "pkg/other.py": "y = 3"}
    found, _ = run({"main.py": main, "helper.py": "seen = []", **package})
    assert found["r"] == (True, 3)


def test_libraries_are_external_names():
    found, _ = run("import torch.nn as nn\nfrom torch import optim\nr = (nn.Linear, optim)")
    assert found["r"] == (External("torch.nn.Linear"), External("torch.optim"))


def test_a_cycle_of_imports_ends():
    found, _ = run({"main.py": "import a\nr = a.x", "a.py": "import b\nx = 1", "b.py": "import a\ny = 2"})
    assert found["r"] == 1


def test_the_text_of_a_file_of_the_repository_is_executed_in_place():
    found, machine = run({"main.py": "batch = 4\nexec(open('settings.py').read())\nr = batch", "settings.py": "batch = 16"})
    assert found["r"] == 16
    assert machine.unresolved == []


def test_other_text_is_not_executed_and_said_so():
    found, machine = run("x = 1\nexec('x = 2')")
    assert found["x"] == 1
    assert "executes text" in machine.unresolved[0][1]


def test_the_place_where_a_value_was_written_is_known():
    found, machine = run("batch = 4\ndef f(size):\n    global kept\n    kept = size\nf(batch)", PlainDomain(tracks_places=True))
    span = machine.place_of(found, "batch")
    assert machine.snapshot.source("main.py").text(span) == "batch"


def test_overrides_replace_globals_of_the_entry_script():
    machine = Machine(Snapshot.of({"main.py": b"n_layer = 12\nr = n_layer * 2"}), PlainDomain(), 1000)
    machine.entry_path = "main.py"
    machine.overrides = {"n_layer": 2}
    assert machine.load("main.py", "__main__").vars["r"] == 4


def test_stopping_a_run_is_no_guest_exception():
    class Stopping(PlainDomain):
        def call_unknown(self, machine, callee, args, kwargs, span):
            raise StopRun

    with pytest.raises(StopRun):
        run("import os\ntry:\n    os.go()\nexcept Exception:\n    r = 1", Stopping())
