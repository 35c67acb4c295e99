"""What is published: every listed repository has its labels, and the page is written from them."""

import pytest

from corpus.__main__ import PAGE, main
from corpus.known import read_known
from corpus.labels import read_sheet, sheet_path
from corpus.manifest import HERE, read_manifest

REPOSITORIES = read_manifest()


@pytest.mark.parametrize("repository", REPOSITORIES, ids=lambda repository: repository.name)
def test_every_finding_was_read(repository):
    sheet = read_sheet(repository)
    assert sheet_path(repository).exists()
    assert (sheet.repository, sheet.commit) == (repository.name, repository.commit)
    assert sheet.lines > 0
    assert [(each.rule, each.path, each.line) for each in sheet.findings if each.first is None or not each.first.why] == []


def test_no_label_is_left_of_a_repository_that_is_not_listed():
    assert {path.name for path in (HERE / "labels").iterdir()} == {sheet_path(repository).name for repository in REPOSITORIES}


def test_known_findings_are_of_listed_commits():
    commits = {repository.name: repository.commit for repository in REPOSITORIES}
    assert {(each.repository, each.commit) for each in read_known()} <= set(commits.items())
    assert [each for each in read_known() if not each.met and not each.argued] == []


def test_the_page_is_up_to_date(tmp_path):
    page = tmp_path / "corpus.md"
    assert main(["page", "--page", str(page)]) == 0
    assert page.read_text() == PAGE.read_text(), "write it anew: python -m corpus page"
