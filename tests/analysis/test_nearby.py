"""A change is narrowed down to the files that it may touch, without a difference to its scope."""

from __future__ import annotations

import pytest

from analysis.facts import Facts
from analysis.scope import narrowed, scope_of
from analysis.snapshot import Snapshot

TORCH = "import torch\n"
REPOSITORY = {
    "pkg/__init__.py": "",
    "pkg/models/__init__.py": TORCH + "from .net import Net\n",
    "pkg/models/net.py": TORCH + "from . import layers\nclass Net(torch.nn.Module): ...\n",
    "pkg/models/layers.py": TORCH,
    "pkg/losses.py": TORCH + "from ..pkg import models\n",
    "pkg/engine.py": TORCH + "from pkg.models import (\n    Net,\n)\nfrom pkg \\\n    import losses\n",
    "train.py": TORCH + "def main():\n    from pkg import engine; import os\nmain()\nconfig = 'configs/base.yaml'\n",
    "plugin.py": TORCH + "from importlib import import_module\nfor name in 'ab': import_module('pkg.models.' + name)\n",
    "other.py": TORCH + "import pkgs, layer, engines\n",
    "other_too.py": TORCH + "text = 'pkg engine layers losses net'\n",
    "configs/base.yaml": "lr: 1\n",
    "run.sh": "python train.py\n",
}


def _sides(changed: str, text: str | None) -> tuple[Snapshot, Snapshot]:
    head = {path: each for path, each in REPOSITORY.items() if path != changed} | ({} if text is None else {changed: text})
    return tuple(Snapshot.of({path: each.encode() for path, each in side.items()}) for side in (REPOSITORY, head))  # type: ignore[return-value]  # two


@pytest.mark.parametrize("changed", REPOSITORY)
@pytest.mark.parametrize("text", [TORCH + "x = 1\n", None], ids=["edited", "removed"])
def test_the_scope_stays_the_same(changed: str, text: str | None):
    base, head = _sides(changed, text)
    store: dict[str, Facts] = {}
    assert scope_of(*narrowed(base, head, store), store) == scope_of(base, head)


@pytest.mark.parametrize(("changed", "parsed"), [("other.py", {"other.py"}), ("pkg/engine.py", {"pkg/engine.py", "train.py"})])
def test_files_that_do_not_name_what_changed_are_not_looked_at(changed: str, parsed: set[str]):
    _, head = narrowed(*_sides(changed, TORCH), {})
    assert set(head.python_paths()) - {"plugin.py"} == parsed


def test_a_change_that_reaches_most_files_is_not_narrowed():
    files = {f"m{number}.py": f"import torch, m{number - 1}\n" for number in range(1, 200)} | {"m0.py": TORCH}
    base = Snapshot.of({path: text.encode() for path, text in files.items()})
    head = base.with_contents({"m0.py": b"import torch, os\n"})
    assert narrowed(base, head, {})[1] is head
    assert len(scope_of(base, head).entries) == 200
