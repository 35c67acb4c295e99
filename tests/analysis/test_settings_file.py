"""A repository's configuration: every key, and one clear sentence for each thing that can be wrong with it."""

from __future__ import annotations

import pytest

from analysis.finding import Severity
from analysis.settings import Absolute, CommentStyle, EntrySettings, FailOn, Relative, Settings
from analysis.settings_file import SettingsError, settings_of

EVERY_KEY = b"""
[tool.preflight]
gpus = ["T4", "A100-80GB"]
entry-points = ["train.py"]
include = ["src"]
exclude = ["third_party"]
select = ["retained-graph"]
ignore = ["unseeded-run"]
per-file-ignores = { "tests/**" = ["missing-zero-grad"] }
severity = { retained-graph = "warning" }
fail-on = "warning"
comment = "hide-and-new"
suggestions = false
drafts = true
memory-threshold = "5%"
sarif = true
assume = { devices = 8, amp = true }

[tool.preflight.entry."src/train.py"]
gpus = ["H100"]
assume = { devices = 16 }
args = ["--batch-size", "8"]
"""


def test_every_key_is_read() -> None:
    settings = settings_of({"pyproject.toml": EVERY_KEY})

    assert settings == Settings(
        gpus=("T4", "A100-80GB"),
        entry_points=("train.py",),
        include=("src",),
        exclude=("third_party",),
        select=("retained-graph",),
        ignore=("unseeded-run",),
        per_file_ignores={"tests/**": ("missing-zero-grad",)},
        severity={"retained-graph": Severity.WARNING},
        fail_on=FailOn.WARNING,
        comment=CommentStyle.HIDE_AND_NEW,
        suggestions=False,
        drafts=True,
        memory_threshold=Relative(0.05),
        sarif=True,
        assume={"devices": 8, "amp": True},
        entry={"src/train.py": EntrySettings(("H100",), {"devices": 16}, ("--batch-size", "8"))},
    )


def test_an_entry_point_inherits_what_it_does_not_say() -> None:
    settings = settings_of({"pyproject.toml": EVERY_KEY})

    assert settings.of_entry("src/train.py").assume == {"devices": 16, "amp": True}
    assert settings.of_entry("src/train.py").gpus == ("H100",)
    assert settings.of_entry("other.py") == EntrySettings(("T4", "A100-80GB"), {"devices": 8, "amp": True}, ())


def test_without_a_table_the_defaults_hold() -> None:
    assert settings_of({}) == Settings()
    assert settings_of({"pyproject.toml": b'[project]\nname = "x"\n'}) == Settings()


@pytest.mark.parametrize("head", [b"", b"[tool.preflight]\n"])
def test_the_own_file_goes_first_and_may_leave_out_the_table(head: bytes) -> None:
    contents = {".preflight.toml": head + b"drafts = true\n", "pyproject.toml": b"[tool.preflight]\nsarif = true\n"}

    assert settings_of(contents) == Settings(drafts=True)


def test_a_threshold_may_be_a_size() -> None:
    settings = settings_of({".preflight.toml": b'memory-threshold = "1.5 GiB"\n'})

    assert settings.memory_threshold == Absolute(3 << 29)
    assert settings.memory_threshold.reached(0, 3 << 29)
    assert not settings.memory_threshold.reached(10, 1 << 30)


def test_arguments_of_an_entry_point_may_be_one_string() -> None:
    settings = settings_of({".preflight.toml": b"""[entry."a.py"]\nargs = "--name 'a b'"\n"""})

    assert settings.of_entry("a.py").args == ("--name", "a b")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"selct = []", ".preflight.toml: unknown key selct; did you mean select?"),
        (b"zzz = 1", ".preflight.toml: unknown key zzz"),
        (b'[entry."a.py"]\ngpu = []', '.preflight.toml: entry of "a.py": unknown key gpu; did you mean gpus?'),
        (b"entry = 1", '.preflight.toml: entry must hold one table for each entry point, such as [tool.preflight.entry."train.py"]'),
        (b"drafts = 1", ".preflight.toml: drafts must be true or false"),
        (b'gpus = "T4"', '.preflight.toml: gpus must be a list of strings, such as ["a", "b"]'),
        (b'fail-on = "eror"', ".preflight.toml: fail-on must be one of error, warning, notice, never; did you mean error?"),
        (b'severity = { a = "high" }', '.preflight.toml: severity of "a" must be one of notice, warning, error'),
        (b"assume = { a = [1] }", '.preflight.toml: assume of "a" must be a number, a string, true or false'),
        (b'memory-threshold = "lots"', '.preflight.toml: memory-threshold must be a share or a size, such as "5%" or "512 MiB"'),
        (b'args = ["a"]', ".preflight.toml: unknown key args"),
        (b"[tool]\npreflight = 1", ".preflight.toml: tool.preflight must be a table"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(text: bytes, sentence: str) -> None:
    with pytest.raises(SettingsError) as raised:
        settings_of({".preflight.toml": text})

    assert str(raised.value) == sentence


@pytest.mark.parametrize(
    ("raw", "part"),
    [
        (b"gpus = [", "is not valid TOML"),
        (b"gpus = ['\xff']", "is not UTF-8: byte 9"),
        (b"a = " + b"[" * 100_000, "nested too deep"),
        (b"a = " + b"9" * 10_000, "holds a number that is too long"),
        (b"#" * 1_000_001, "larger than 1 MB"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(raw: bytes, part: str) -> None:
    with pytest.raises(SettingsError, match=r"^pyproject\.toml") as raised:
        settings_of({"pyproject.toml": raw})

    assert part in str(raised.value)
