"""The shelf hands out the release nearest to what is asked for, and says which releases it has."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bot.sources import shelf
from bot.sources.release import LocalShelf
from bot.sources.shelf import LIBRARIES, VERSION, sources, usual

LAYER = """\
from torch import nn


class Widened(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up, self.down = nn.Linear(width, 8 * width), nn.Linear(8 * width, width)

    def forward(self, x):
        return self.down(self.up(x).relu())
"""
USES_IT = """\
import torch
from timm.layers.widened import Widened

model = Widened(1024).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    loss = model(torch.randn(8, 1024, device="cuda")).pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def stocked(folder: Path, *versions: str, text: str = LAYER) -> Path:
    """A folder that holds releases of a library whose ``layers.widened`` is ``text``."""
    for version in versions:
        package = folder / "timm" / version / "timm"
        (package / "layers").mkdir(parents=True)
        (package / "__init__.py").write_text(f"__version__ = '{version}'\n")
        (package / "layers" / "widened.py").write_text(text)
        (package / "notes.txt").write_text("no source")
    return folder


@pytest.mark.parametrize(("wanted", "version"), [((), "1.1.0"), ((1, 0), "1.0.2"), ((0, 9), "1.0.2"), ((2,), "1.1.0"), ((1, 1, 0), "1.1.0")])
def test_the_release_nearest_to_what_is_asked_for(tmp_path: Path, wanted: tuple[int, ...], version: str) -> None:
    found = LocalShelf(stocked(tmp_path, "1.0.2", "1.1.0")).release("timm", wanted)
    assert found is not None
    assert found["timm/__init__.py"].decode() == f"__version__ = '{version}'\n"
    assert list(found) == ["timm/__init__.py", "timm/layers/widened.py"]
    for elsewhere in ("timm/notes.txt", "timm/../../1.0.2/timm/__init__.py"):
        assert elsewhere not in found


def test_a_library_that_is_not_there() -> None:
    assert LocalShelf(Path("nowhere")).release("no_such_library", ()) is None


def test_its_representation_tells_the_releases(tmp_path: Path) -> None:
    before = repr(LocalShelf(stocked(tmp_path, "1.0.2")))
    assert before == repr(LocalShelf(tmp_path))
    assert "timm==1.0.2" in before
    assert repr(LocalShelf(stocked(tmp_path, "1.1.0"))) != before


def test_what_is_installed_is_found_by_the_names_in_pythons_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "diffusers").mkdir()
    (tmp_path / "diffusers-0.42.1.dist-info").mkdir()
    (tmp_path / "peft-0.21.2.dist-info").mkdir()  # without its package: the source lies elsewhere
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    found = [(each.library, each.version, each.path) for each in sources(tmp_path / "nothing") if each.origin == "environment"]
    assert found == [("diffusers", "0.42.1", tmp_path / "diffusers")]


def test_the_folder_is_the_operators_or_the_users() -> None:
    assert shelf.shelf({"PREFLIGHT_SOURCES_DIR": "/srv/sources", "XDG_DATA_HOME": "/data"}) == Path("/srv/sources")
    assert shelf.shelf({"XDG_DATA_HOME": "/data"}) == shelf.data_folder({"XDG_DATA_HOME": "/data"}) / "sources"


def test_the_usual_releases_are_of_libraries_that_are_read() -> None:
    pairs = [line.split("==") for line in usual()]
    assert {library for library, _ in pairs} <= set(LIBRARIES)
    assert all(VERSION.fullmatch(version) for _, version in pairs)
    assert len({tuple(pair) for pair in pairs}) == len(pairs)
