"""Dotted names are found where Python would find them."""

import pytest

from analysis.modules import Modules
from analysis.snapshot import Snapshot


def modules(*paths: str) -> Modules:
    return Modules(Snapshot.of(dict.fromkeys(paths, b"")))


@pytest.mark.parametrize(
    ("paths", "dotted", "importer", "entry", "expected"),
    [
        (("train.py", "model.py"), "model", "train.py", "train.py", "model.py"),
        (("scripts/train.py", "scripts/model.py", "model.py"), "model", "scripts/train.py", "scripts/train.py", "scripts/model.py"),
        (("scripts/train.py", "pkg/__init__.py", "pkg/net.py"), "pkg.net", "scripts/train.py", "scripts/train.py", "pkg/net.py"),
        (("scripts/train.py", "src/pkg/__init__.py", "src/pkg/net.py"), "pkg.net", "scripts/train.py", "scripts/train.py", "src/pkg/net.py"),
        (("src/pkg/__init__.py", "src/pkg/net.py", "src/pkg/train.py"), "pkg.net", "src/pkg/train.py", "src/pkg/train.py", "src/pkg/net.py"),
        (("pkg/__init__.py", "pkg/a.py", "pkg/b.py"), ".b", "pkg/a.py", "train.py", "pkg/b.py"),
        (("pkg/__init__.py", "pkg/sub/__init__.py", "pkg/b.py"), "..b", "pkg/sub/__init__.py", "train.py", "pkg/b.py"),
        (("pkg/__init__.py", "pkg/a.py"), ".", "pkg/a.py", "train.py", "pkg/__init__.py"),
        (("pkg/__init__.py", "pkg/a.py"), "...b", "pkg/a.py", "train.py", None),
        (("utils/io.py", "train.py"), "utils.io", "train.py", "train.py", "utils/io.py"),
        (("utils/io.py", "train.py"), "utils", "train.py", "train.py", None),
        (("pkg/__init__.py", "pkg.py", "train.py"), "pkg", "train.py", "train.py", "pkg/__init__.py"),
        (("train.py", "lib/datasets/__init__.py"), "datasets", "train.py", "train.py", None),
        (("train.py", "datasets/__init__.py"), "datasets", "train.py", "train.py", "datasets/__init__.py"),
        (("pkg/__init__.py", "pkg/logging.py", "pkg/a.py"), "logging", "pkg/a.py", "pkg/a.py", None),
        (("datasets.py",), "datasets", "datasets.py", "datasets.py", None),
        (("train.py", "utils/__init__.py", "other/utils/io.py"), "utils.io", "train.py", "train.py", None),
        (("a/net.py", "b/net.py", "main/train.py"), "net", "main/train.py", "main/train.py", None),
        (("x/a/net.py", "y/net.py", "x/b/train.py"), "net", "x/b/train.py", "x/b/train.py", "x/a/net.py"),
    ],
)
def test_resolve(paths, dotted, importer, entry, expected):
    assert modules(*paths).resolve(dotted, importer, entry) == expected


def test_dotted_name_starts_at_the_outermost_package():
    found = modules("src/pkg/__init__.py", "src/pkg/net.py", "tools/run.py")
    assert found.dotted_name("src/pkg/net.py") == "pkg.net"
    assert found.dotted_name("src/pkg/__init__.py") == "pkg"
    assert found.dotted_name("tools/run.py") == "run"
