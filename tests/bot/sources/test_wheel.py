"""A wheel is unpacked as text, whole and nowhere else; what is not a library's wheel is refused by name."""

from __future__ import annotations

import base64
import hashlib
import zipfile

import pytest

from bot.sources import wheel
from bot.sources.shelf import sources
from bot.sources.wheel import WheelError, add, unpack


def made(path, files, *, record=None, links=()):
    """A wheel of these files, with their true record unless another is given."""
    name = path / "timm-1.0.0-py3-none-any.whl"
    digests = {file: base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode() for file, text in files.items()}
    with zipfile.ZipFile(name, "w") as archive:
        for file, text in files.items():
            entry = zipfile.ZipInfo(file)
            entry.external_attr = (0o120777 if file in links else 0o100644) << 16
            archive.writestr(entry, text)
        lines = [f"{file},sha256={digests[file]},{len(text)}" for file, text in files.items()] if record is None else record
        archive.writestr("timm-1.0.0.dist-info/RECORD", "\n".join(lines))
    return name


GOOD = {"timm/__init__.py": b"x = 1\n", "timm/models/vit.py": b"y = 2\n", "timm/weights.bin": b"\0", "other/thing.py": b"z = 3\n"}


def test_the_packages_python_text_is_unpacked_and_nothing_else(tmp_path):
    unpack(made(tmp_path, GOOD), "timm", tmp_path / "out")
    found = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert found == {"timm/__init__.py", "timm/models/vit.py"}


@pytest.mark.parametrize("name", ["../evil.py", "/etc/evil.py", "timm/../../evil.py", "timm\\evil.py", "c:/evil.py"])
def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path, name):
    with pytest.raises(WheelError, match="leads out of the folder"):
        unpack(made(tmp_path, {**GOOD, name: b"x"}), "timm", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_link_is_refused(tmp_path):
    with pytest.raises(WheelError, match="is a link"):
        unpack(made(tmp_path, {**GOOD, "timm/link.py": b"/etc/passwd"}, links=("timm/link.py",)), "timm", tmp_path / "out")


def test_a_file_that_is_not_what_the_record_says_is_refused(tmp_path):
    with pytest.raises(WheelError, match="not what the wheel's record says"):
        unpack(made(tmp_path, GOOD, record=["timm/__init__.py,sha256=AAAA,6"]), "timm", tmp_path / "out")


def test_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(wheel, "MAX_BYTES", 4)
    with pytest.raises(WheelError, match="larger than a library's source"):
        unpack(made(tmp_path, GOOD), "timm", tmp_path / "out")


def test_what_is_no_archive_is_refused(tmp_path):
    (tmp_path / "timm.whl").write_bytes(b"no archive")
    with pytest.raises(WheelError, match="cannot be read as a wheel"):
        unpack(tmp_path / "timm.whl", "timm", tmp_path / "out")


def test_an_added_release_is_listed_and_brought_once(tmp_path):
    asked = []

    def fetch(library, version, folder):
        asked.append((library, version))
        return made(folder, GOOD)

    for _ in range(2):
        assert add("timm", "1.0.0", tmp_path / "shelf", fetch) == tmp_path / "shelf" / "timm" / "1.0.0" / "timm"
    assert asked == [("timm", "1.0.0")]
    assert [each.name for each in (tmp_path / "shelf" / "timm").iterdir()] == ["1.0.0"]
    found = [(each.version, each.origin) for each in sources(tmp_path / "shelf") if each.library == "timm"]
    assert ("1.0.0", "added") in found
    assert found[-1][1] == "zoo"


def test_a_wheel_that_is_refused_leaves_nothing_on_the_shelf(tmp_path):
    with pytest.raises(WheelError):
        add("timm", "1.0.0", tmp_path / "shelf", lambda library, version, folder: made(folder, {"../evil.py": b"x"}))
    assert list((tmp_path / "shelf" / "timm").iterdir()) == []
