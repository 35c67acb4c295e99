"""Importing a module runs the packages that hold it first, so that those that import each other find what Python would."""

from __future__ import annotations

from analysis.interpreter.machine import Machine
from analysis.snapshot import Snapshot
from tests.analysis.interpreter.plain import PlainDomain

FILES = {
    "main.py": "from kit.inner.tool import answer\n",
    "kit/__init__.py": "order = []\norder.append('kit')\nfrom kit.first import base\n",
    "kit/first.py": "from kit.inner.tool import answer\nbase = answer + 1\n",
    "kit/inner/__init__.py": "import kit\nkit.order.append('inner')\n",
    "kit/inner/tool.py": "import kit\nkit.order.append('tool')\nanswer = 41\n",
}


def test_packages_run_from_the_outermost():
    machine = Machine(Snapshot.of({path: text.encode() for path, text in FILES.items()}), PlainDomain(), 10_000)
    machine.entry_path = "main.py"
    module = machine.load("main.py", "__main__")
    assert module.vars["answer"] == 41
    assert machine.loaded["kit/__init__.py"].vars["order"] == ["kit", "inner", "tool"]
    assert machine.loaded["kit/first.py"].vars["base"] == 42


def test_a_script_does_not_run_the_package_that_it_lies_in():
    machine = Machine(Snapshot.of({"kit/__init__.py": b"raise ValueError('no')\n", "kit/run.py": b"done = True\n"}), PlainDomain(), 1_000)
    machine.entry_path = "kit/run.py"
    assert machine.load("kit/run.py", "__main__").vars["done"] is True
