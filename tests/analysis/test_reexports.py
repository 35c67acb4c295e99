"""What a change touches through packages that only pass names on."""

from __future__ import annotations

from analysis.index import index
from analysis.snapshot import Snapshot

LIBRARY = {
    "lib/__init__.py": "from lib.losses import *\n",
    "lib/losses/__init__.py": "from lib.losses.one import One\nfrom .two import Two\n",
    "lib/losses/one.py": "import torch\nclass One(torch.nn.Module): ...\n",
    "lib/losses/two.py": "import torch\nclass Two(torch.nn.Module): ...\n",
}


def reaching(path: str, **more: str) -> dict[str, int]:
    files = {**LIBRARY, **{f"{name}.py": f"import torch\n{text}" for name, text in more.items()}}
    built = index(Snapshot.of({name: text.encode() for name, text in files.items()}))
    return built.distances([path])


def test_only_those_who_take_the_changed_name_are_touched():
    touched = reaching("lib/losses/one.py", a="from lib.losses import One\n", b="from lib.losses import Two\n", c="from lib.losses import Two, One\n")
    assert touched.keys() & {"a.py", "b.py", "c.py"} == {"a.py", "c.py"}
    assert touched["a.py"] == 2


def test_whoever_takes_the_whole_package_is_touched():
    assert {"a.py", "b.py"} <= reaching("lib/losses/one.py", a="import lib.losses\n", b="from lib.losses import *\n").keys()
    assert "a.py" in reaching("lib/losses/one.py", a="from lib import losses\nlosses.Two()\n")


def test_a_package_that_does_more_passes_everything_on():
    for more in ("ALL = {'one': One}\n", "register(One)\n", "from lib.losses.one import One as Two\n"):
        package = LIBRARY["lib/losses/__init__.py"] + more
        files = {**LIBRARY, "lib/losses/__init__.py": package, "b.py": "import torch\nfrom lib.losses import Two\n"}
        assert "b.py" in index(Snapshot.of({name: text.encode() for name, text in files.items()})).reaching(["lib/losses/one.py"])


def test_a_change_of_the_package_itself_touches_all():
    assert "b.py" in reaching("lib/losses/__init__.py", b="from lib.losses import Two\n")
