"""The process that holds LibCST may die: the analysis does not, and the other jobs get their answers."""

import sys

import pytest

from analysis.finding import Safety
from analysis.fixes import worker
from analysis.fixes.change import AddDecorator, AddImport, InsertBefore, MoveStatement, Proposal, SetArgument, WrapExpression
from analysis.fixes.draft import draft
from analysis.fixes.wire import Job, Refused, Rewritten, pack_answers, pack_jobs, unpack_answers, unpack_jobs
from analysis.snapshot import Snapshot
from analysis.source import Span


def job(text: str, start: int, end: int) -> Job:
    return Job(text, "\n", "    ", WrapExpression(Span("a.py", start, end), after=".item()"))


GOOD = job("x = loss\n", 4, 8)
DEADLY = job("deadly = loss\n", 9, 13)
#: As LibCST does on twenty thousand minus signs, which ``region`` never lets through.
DYING = "import os, signal, sys; b'deadly' in (data := sys.stdin.buffer.read()) and os.kill(os.getpid(), signal.SIGSEGV); "


def test_jobs_and_answers_survive_the_way():
    span = Span("a.py", 1, 2)
    changes = [
        InsertBefore(span, ("é", "b")),
        MoveStatement(span, after=span),
        SetArgument(span, "k", "1", ("a", "b")),
        AddDecorator(span, "d"),
    ]
    jobs = [Job("x\r\n", "\r\n", "\t", change) for change in changes]
    answers = [Rewritten("é\r\n"), Refused("why")]
    assert unpack_jobs(pack_jobs(jobs)) == jobs
    assert unpack_answers(pack_answers(answers)) == answers


def test_a_batch_runs_in_one_process(monkeypatch):
    started = []
    run = worker.subprocess.run
    monkeypatch.setattr(worker.subprocess, "run", lambda *args, **options: started.append(1) or run(*args, **options))
    assert worker.run([GOOD] * 20) == [Rewritten("x = loss.item()\n")] * 20
    assert worker.run([]) == []
    assert len(started) == 1


def test_a_job_that_kills_its_process_costs_only_itself(monkeypatch):
    answering = "sys.stdin = __import__('io').TextIOWrapper(__import__('io').BytesIO(data)); "
    monkeypatch.setattr(worker, "_PROGRAM", DYING + answering + worker._PROGRAM)
    first, deadly, *rest = worker.run([GOOD, DEADLY, GOOD, GOOD])
    assert [first, *rest] == [Rewritten("x = loss.item()\n")] * 3
    assert deadly == Refused("the process that edits failed: CalledProcessError")


@pytest.mark.parametrize("answer", ["", "no json", '[{"text": 1}, {}]', "{}", "[]"])
def test_an_answer_that_is_none_is_refused(monkeypatch, answer):
    monkeypatch.setattr(worker, "_PROGRAM", f"import sys; sys.stdin.read(); sys.stdout.write({answer!r})")
    assert worker.run([GOOD]) == [Refused("the process that edits did not answer")]


def test_a_missing_interpreter_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    assert worker.run([GOOD]) == [Refused("the process that edits failed: FileNotFoundError")]


def test_the_child_sees_nothing_of_the_folder_it_runs_in(monkeypatch, tmp_path):
    (tmp_path / "libcst.py").write_text("raise SystemExit('imported from the working directory')")
    (tmp_path / "json.py").write_text("raise SystemExit('imported from the working directory')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert worker.run([GOOD]) == [Rewritten("x = loss.item()\n")]


def test_a_plain_expression_needs_no_process(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    proposal = Proposal("fix", Safety.SAFE, (WrapExpression(Span("a.py", 4, 8), after=".item()"), AddImport("a.py", "torch")))
    (fix,) = draft([proposal], Snapshot.of({"a.py": b"x = loss\n"}))
    assert not isinstance(fix, Refused)
    assert [edit.text for edit in fix.edits] == ["import torch\n", ".item()"]
