"""A library's wheel, brought without what it depends on and unpacked as data: Python text and nothing else.

A wheel is somebody else's archive: names that lead out of the folder, links, and sizes that no library has are refused, and every file must be
what the wheel's own record says. Nothing of it is imported, executed or installed.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

#: Limits of what is unpacked: far more than any model library has in Python text.
MAX_FILES = 20_000
MAX_FILE_BYTES = 8 << 20
MAX_BYTES = 256 << 20
_TIMEOUT_SECONDS = 600

Fetch = Callable[[str, str, Path], Path]


class WheelError(Exception):
    """A wheel could not be brought or is not to be trusted; the message is one sentence that says which and why."""


def fetched(library: str, version: str, folder: Path) -> Path:
    """The wheel of a release in ``folder``, downloaded by pip from the index that it is configured with. Raises ``WheelError``."""
    words = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    try:
        done = subprocess.run(  # noqa: S603  no shell; library and version were checked against a list and a pattern
            [sys.executable, *words, f"{library}=={version}"], capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise WheelError(f"{library}=={version}: pip brought no wheel within {_TIMEOUT_SECONDS} seconds; try again.") from None
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        said = (done.stderr.strip() or "pip said nothing").splitlines()[-1].removeprefix("ERROR: ")
        raise WheelError(f"{library}=={version}: pip could not bring it ({said}); check the version and the network.")
    return wheels[0]


def add(library: str, version: str, shelf: Path, fetch: Fetch = fetched) -> Path:
    """Bring a release and unpack its Python text under ``shelf``; the folder of its package. What is there already stays. Raises ``WheelError``."""
    target = shelf / library / version
    if (target / library).is_dir():
        return target / library
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as made:
        wheel = fetch(library, version, Path(made))
        unpacked = Path(made) / "unpacked"
        unpack(wheel, library, unpacked)
        shutil.rmtree(target, ignore_errors=True)
        unpacked.replace(target)
    return target / library


def unpack(wheel: Path, library: str, folder: Path) -> None:
    """Write the Python files of the package ``library`` below ``folder``. Raises ``WheelError``."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            record = _record(archive, wheel)
            for entry in _wanted(archive, library, wheel):
                with archive.open(entry) as stream:
                    text = stream.read(MAX_FILE_BYTES + 1)
                if len(text) > MAX_FILE_BYTES or len(text) != entry.file_size:
                    raise WheelError(f"{wheel.name}: {entry.filename} is not as large as the archive says; the file is not used.")
                if record.get(entry.filename) != _digest(text):
                    raise WheelError(f"{wheel.name}: {entry.filename} is not what the wheel's record says; the file is not used.")
                path = folder.joinpath(*PurePosixPath(entry.filename).parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text)
    except (zipfile.BadZipFile, OSError) as error:
        raise WheelError(f"{wheel.name}: it cannot be read as a wheel ({error}).") from None
    if not (folder / library).is_dir():
        raise WheelError(f"{wheel.name}: it holds no Python source of {library}.")


def _wanted(archive: zipfile.ZipFile, library: str, wheel: Path) -> Iterator[zipfile.ZipInfo]:
    """The package's Python files, once all names and sizes of the archive have been looked at."""
    entries = archive.infolist()
    for entry in entries:
        path = PurePosixPath(entry.filename)
        if path.is_absolute() or ".." in path.parts or "\\" in entry.filename or ":" in path.parts[0]:
            raise WheelError(f"{wheel.name}: the name {entry.filename!r} leads out of the folder; the wheel is not used.")
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise WheelError(f"{wheel.name}: {entry.filename} is a link; the wheel is not used.")
    wanted = [entry for entry in entries if entry.filename.endswith(".py") and entry.filename.startswith(f"{library}/")]
    if len(wanted) > MAX_FILES or sum(entry.file_size for entry in wanted) > MAX_BYTES or any(entry.file_size > MAX_FILE_BYTES for entry in wanted):
        raise WheelError(f"{wheel.name}: it is larger than a library's source is; the wheel is not used.")
    yield from wanted


def _record(archive: zipfile.ZipFile, wheel: Path) -> Mapping[str, str]:
    """The digests that the wheel states of its files, by name."""
    names = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
    if len(names) != 1 or archive.getinfo(names[0]).file_size > MAX_FILE_BYTES:
        raise WheelError(f"{wheel.name}: it has no record of its files; the wheel is not used.")
    rows = csv.reader(io.StringIO(archive.read(names[0]).decode("utf-8", "replace")))
    return {row[0]: row[1] for row in rows if len(row) > 1}


def _digest(text: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(text).digest()).rstrip(b"=").decode()
