"""A change touches its files, their callers and callees, and the entry points that read its configuration."""

from analysis.index import index
from analysis.scope import scope_of
from analysis.snapshot import Snapshot

REPOSITORY = {
    "train.py": b"import torch\nfrom pkg.engine import fit\nCONFIG = 'configs/small.yaml'\nfit()\n",
    "pkg/__init__.py": b"",
    "pkg/engine.py": b"import torch\nfrom .meters import Meter\ndef fit():\n    loss.backward()\n",
    "pkg/meters.py": b"class Meter:\n    pass\n",
    "other.py": b"import torch\nloss.backward()\n",
    "unrelated.py": b"print('no training here')\n",
    "configs/small.yaml": b"lr: 1\n",
    "launch.sh": b"torchrun other.py --lr 1\n",
    "README.md": b"# read me\n",
}


def scope(**changes: bytes | None):
    head = {**REPOSITORY, **{path: raw for path, raw in changes.items() if raw is not None}}
    for path in [path for path, raw in changes.items() if raw is None]:
        del head[path]
    return scope_of(Snapshot.of(REPOSITORY), Snapshot.of(head))


def test_helper_reaches_its_callers():
    found = scope(**{"pkg/meters.py": b"class Meter:\n    sum = 0\n"})
    assert found.changed == {"pkg/meters.py"}
    assert found.entries == {"train.py", "pkg/engine.py", "pkg/meters.py"}
    assert found.paths == found.entries


def test_caller_reaches_what_it_calls():
    found = scope(**{"train.py": REPOSITORY["train.py"] + b"x = 1\n"})
    assert found.entries == {"train.py"}
    assert found.paths == {"train.py", "pkg/engine.py", "pkg/meters.py"}


def test_configuration_reaches_its_readers():
    assert scope(**{"configs/small.yaml": b"lr: 2\n"}).entries == {"train.py"}
    assert scope(**{"launch.sh": b"torchrun other.py --lr 2\n"}).entries == {"other.py"}


def test_removed_module_reaches_those_that_imported_it():
    found = scope(**{"pkg/meters.py": None})
    assert found.removed == {"pkg/meters.py"}
    assert found.entries == {"train.py", "pkg/engine.py"}


def test_prose_touches_nothing():
    assert not scope(**{"README.md": b"# read this\n"}).touches_training
    assert not scope(**{"unrelated.py": b"print('still none')\n"}).touches_training


def test_files_without_training_are_not_indexed_and_facts_are_kept():
    store = {}
    built = index(Snapshot.of(REPOSITORY), store)
    assert "unrelated.py" not in built.facts
    assert "pkg/meters.py" in built.facts
    assert len(store) == len(built.facts) == 4
    fit = next(found for found in built.facts["pkg/engine.py"].definitions if found.qualname == "fit")
    assert fit.trains
    kept = dict(store)
    assert index(Snapshot.of(REPOSITORY), store).facts == built.facts
    assert store == kept


def test_a_broken_file_is_reported_and_passed_over():
    built = index(Snapshot.of({**REPOSITORY, "broken.py": b"import torch\ndef f(:\n"}))
    assert [failed.path for failed in built.not_analysed] == ["broken.py"]
    assert "train.py" in built.facts
