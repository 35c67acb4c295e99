"""An archive that is too large, broken or hostile is refused, and leaves nothing on disk."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from bot.github import archive
from bot.github.archive import ArchiveError
from bot.github.cache import BlobCache, remove_unused


def packed(files: dict[str, bytes], links: dict[str, str] | None = None) -> io.BytesIO:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as made:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            made.addfile(member, io.BytesIO(content))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            made.addfile(member)
    buffer.seek(0)
    return buffer


def everything(_path: str, _size: int) -> bool:
    return True


def test_regular_files_are_kept_by_hash_alone(tmp_path: Path) -> None:
    hostile = {"top/a.py": b"a\n", "top/../../escape.py": b"b\n", "/absolute.py": b"c\n"}
    kept = archive._keep(packed(hostile, {"top/link.py": "/etc/passwd"}), BlobCache(tmp_path), everything)
    assert kept == 3
    names = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert all(len(name) == 40 for name in names)
    assert not (tmp_path.parent / "escape.py").exists()


def test_only_wanted_files_are_kept(tmp_path: Path) -> None:
    asked: list[tuple[str, int]] = []

    def wanted(path: str, size: int) -> bool:
        asked.append((path, size))
        return path == "a.py"

    assert archive._keep(packed({"top/a.py": b"a\n", "top/b.bin": b"bb"}), BlobCache(tmp_path), wanted) == 1
    assert asked == [("a.py", 2), ("b.bin", 2)]


@pytest.mark.parametrize(
    "raw",
    [b"", b"no archive", gzip.compress(b"no tar" * 200), packed({"t/a.py": b"x" * 5_000}).getvalue()[:60]],
    ids=["nothing", "no gzip", "no tar", "cut off"],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, raw: bytes) -> None:
    with pytest.raises(ArchiveError, match="cannot be read"):
        archive._keep(io.BytesIO(raw), BlobCache(tmp_path), everything)


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_MAX_UNPACKED_BYTES", 1 << 20)
    with pytest.raises(ArchiveError, match="unpacks to more than"):
        archive._keep(packed({"top/a.bin": bytes(2 << 20)}), BlobCache(tmp_path), lambda _path, _size: False)
    monkeypatch.setattr(archive, "_MAX_MEMBERS", 3)
    with pytest.raises(ArchiveError, match="more than 3 members"):
        archive._keep(packed({f"top/{number}": b"" for number in range(9)}), BlobCache(tmp_path), everything)


def test_the_cache_forgets_what_nobody_reads(tmp_path: Path) -> None:
    cache = BlobCache(tmp_path)
    sha = cache.put(b"x = 1\n")
    assert cache.get(sha) == b"x = 1\n"
    assert remove_unused(tmp_path) == 0
    assert remove_unused(tmp_path, now=4e9) == 1
    assert cache.get(sha) is None
    with pytest.raises(ValueError, match="not the name of a blob"):
        cache.get("../../etc/passwd")
