"""What ``dataclasses.fields`` and ``slots`` show: a base class may ask for both while its subclasses are defined."""

from __future__ import annotations

from analysis.index import index
from analysis.library.domain import World
from analysis.library.entries import Entry
from analysis.library.rehearsal import SHORT
from analysis.library.running import run
from analysis.snapshot import Snapshot

PROGRAM = """
from dataclasses import MISSING, dataclass, field, fields, is_dataclass


class Configurable:
    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "__slots__" not in cls.__dict__["Config"].__dict__:
            raise TypeError("needs slots")
        if not all(each.kw_only for each in fields(cls.__dict__["Config"])):
            raise TypeError("needs keywords")


class Trainer(Configurable):
    @dataclass(kw_only=True, slots=True)
    class Config:
        steps: int = 10
        names: list = field(default_factory=list)
        hidden: int = field(default=3, init=False)


@dataclass
class Plain:
    lr: float


config = Trainer.Config(steps=4)
r = [
    {each.name: getattr(config, each.name) for each in fields(config) if each.init},
    [each.default for each in fields(Trainer.Config)][0],
    [each.default is MISSING for each in fields(Trainer.Config)],
    [each.default_factory is MISSING for each in fields(config)],
    is_dataclass(config), is_dataclass(Trainer), is_dataclass(Plain), "__slots__" in Plain.__dict__, fields(Plain)[0].kw_only,
]
"""


def test_fields_are_shown_as_python_shows_them() -> None:
    expected: dict[str, object] = {}
    exec(PROGRAM, expected)  # our own program, the judge being Python
    snapshot = Snapshot.of({"train.py": PROGRAM.encode()})
    ended = run(snapshot, index(snapshot), Entry("train.py"), World(), {}, SHORT)
    assert ended is not None
    assert ended.machine.loaded["train.py"].vars["r"] == expected["r"]
    assert not ended.machine.unresolved
