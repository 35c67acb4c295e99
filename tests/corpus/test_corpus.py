"""The corpus from outside: what its commands print, write and return."""

import json

import pytest

from corpus.__main__ import main
from corpus.known import Known, Ours, read_known, write_known
from corpus.labels import Label, Reading, read_sheet
from tests.corpus.conftest import TRAIN, git


def run(folder, *words):
    return main(["--corpus", str(folder), *map(str, words)])


@pytest.fixture
def recorded(folder, root, capsys):
    assert run(folder, "run", "--root", root, "--record") == 0
    capsys.readouterr()
    return folder


def readings(folder, root, capsys, tmp_path, label):
    """What a reader gives back who calls everything ``label``."""
    assert run(folder, "blind", "--root", root) == 0
    entries = [{**entry, "label": label, "why": "the gradients of all steps add up"} for entry in json.loads(capsys.readouterr().out)]
    file = tmp_path / f"{label}.json"
    file.write_text(json.dumps(entries))
    return file


def test_an_unread_finding_is_new(folder, root, capsys):
    assert run(folder, "run", "--root", root) == 1
    said = capsys.readouterr().out
    assert "owner/name: 1 files, 7 lines interpreted · 1 errors, 0 warnings · right: none read" in said
    assert "new       error missing-zero-grad train.py:6" in said
    assert "1 errors and warnings in 7 interpreted lines: one in 7" in said
    assert not (folder / "labels").exists()


def test_a_recorded_finding_waits_for_a_reader(recorded, root, repository, capsys):
    sheet = read_sheet(repository, recorded)
    assert (sheet.commit, sheet.files, sheet.lines) == (repository.commit, 1, 7)
    assert [(each.rule, each.path, each.line, each.first, each.second) for each in sheet.findings] == [("missing-zero-grad", "train.py", 6, None, None)]
    assert run(recorded, "run", "--root", root) == 0
    assert "new" not in capsys.readouterr().out


def test_a_blind_reader_sees_the_code_and_no_label(recorded, root, capsys, tmp_path):
    assert run(recorded, "label", readings(recorded, root, capsys, tmp_path, "defect"), "--reader", "first") == 0
    capsys.readouterr()
    run(recorded, "blind", "--root", root)
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["rule"], entry["label"], entry["why"]) == ("missing-zero-grad", "", "")
    assert "    6         torch.nn.functional.mse_loss(model(x), y).backward()" in entry["excerpt"]
    assert "defect" not in json.dumps(entry)


def test_two_readers_who_differ(recorded, root, repository, capsys, tmp_path):
    run(recorded, "label", readings(recorded, root, capsys, tmp_path, "defect"), "--reader", "first")
    assert run(recorded, "run", "--root", root) == 0
    assert "missing-zero-grad: 1 of 1 (100 %)" in capsys.readouterr().out
    run(recorded, "label", readings(recorded, root, capsys, tmp_path, "intended"))
    (finding,) = read_sheet(repository, recorded).findings
    assert finding.first == Reading(Label.DEFECT, "the gradients of all steps add up")
    assert finding.disputed
    run(recorded, "run", "--root", root)
    said = capsys.readouterr().out
    assert "disputed  missing-zero-grad train.py:6 (defect against intended)" in said
    assert "missing-zero-grad: 0 of 1 (0 %)" in said


def test_labels_outlive_moved_lines_and_go_with_the_finding(recorded, root, capsys, tmp_path):
    run(recorded, "label", readings(recorded, root, capsys, tmp_path, "defect"), "--reader", "first")
    checkout = root / "owner+name" / "repo"
    for content, status, said in (
        (f"# moved\n{TRAIN}", 0, "right: 1 of 1"),
        (TRAIN.replace("optimizer.step()", "print(x)"), 1, "gone      missing-zero-grad train.py:6 (defect)"),
    ):
        (checkout / "train.py").write_text(content)
        git(checkout, "commit", "-q", "-a", "-m", "Change")
        manifest = (recorded / "manifest.toml").read_text()
        (recorded / "manifest.toml").write_text(manifest.replace(manifest.split("'")[3], git(checkout, "rev-parse", "HEAD")))
        capsys.readouterr()
        assert run(recorded, "run", "--root", root) == status
        assert said in capsys.readouterr().out


def test_what_another_checker_found(recorded, root, repository, capsys):
    entry = Known(repository.name, repository.commit, "train.py", 8, "missing-zero-grad", Label.DEFECT, "nothing clears")
    missed = Known(repository.name, repository.commit, "load.py", 4, "unseeded-run", Label.DEFECT, "no seed")
    write_known([entry, missed], recorded)
    run(recorded, "run", "--root", root, "--record")
    assert "defects of the other checker reported: 1 of 2" in capsys.readouterr().out
    assert [each.ours for each in read_known(recorded)] == [Ours.ERROR, Ours.SILENT]


def test_the_page_says_what_was_found(recorded, root, repository, capsys, tmp_path):
    run(recorded, "label", readings(recorded, root, capsys, tmp_path, "defect"), "--reader", "first")
    page = tmp_path / "docs" / "corpus.md"
    assert run(recorded, "page", "--page", page) == 0
    said = page.read_text()
    assert "- errors that are right: 1 of 1 (100 %)" in said
    assert "one error or warning in 7 interpreted lines" in said
    assert f"https://github.com/owner/name/blob/{repository.commit}/train.py#L6" in said
    assert "defect: the gradients of all steps add up" in said
    assert "mse_loss" not in said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "--root", "nowhere"), "holds no git directory"),
        (("run", "--root", "nowhere", "--only", "no/such"), "no/such is not in the manifest; it lists owner/name"),
        (("label", "nowhere.json"), "nowhere.json is no list of readings"),
    ],
)
def test_what_is_not_there_is_named(folder, words, says, capsys):
    assert run(folder, *words) == 2
    assert says in capsys.readouterr().err


def test_a_reading_of_nothing_recorded_is_refused(folder, root, capsys, tmp_path):
    assert run(folder, "label", readings(folder, root, capsys, tmp_path, "defect")) == 2
    assert "missing-zero-grad at owner/name train.py:6 is not among the recorded findings" in capsys.readouterr().err


def test_a_commit_that_is_not_there_is_named(folder, root, capsys):
    manifest = (folder / "manifest.toml").read_text()
    (folder / "manifest.toml").write_text(manifest.replace(manifest.split("'")[3], "0" * 40))
    assert run(folder, "run", "--root", root) == 2
    assert f"there is no commit {'0' * 40}; fetch it" in capsys.readouterr().err
