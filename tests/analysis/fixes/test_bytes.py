"""Outside of the edit a file stays as it is, byte for byte."""

import pytest

from analysis.finding import Edit, Safety
from analysis.fixes.apply import apply
from analysis.fixes.change import InsertBefore, Proposal, RemoveStatement, WrapExpression
from analysis.fixes.draft import draft
from analysis.fixes.wire import Refused
from analysis.snapshot import Snapshot
from analysis.source import Span

pytestmark = pytest.mark.usefixtures("in_process")


def detached(before: bytes, after: bytes = b"", *, mark: bytes = b"loss") -> bytes | str:
    """The file ``before`` + loss + ``after`` with the loss detached, or why not."""
    content = before + mark + after
    snapshot = Snapshot.of({"a.py": content})
    start = len(before.removeprefix(b"\xef\xbb\xbf"))
    (fix,) = draft([Proposal("detach", Safety.SAFE, (WrapExpression(Span("a.py", start, start + len(mark)), after=".detach()"),))], snapshot)
    return fix.because if isinstance(fix, Refused) else apply(snapshot, fix.edits)["a.py"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfx = ", b"\n"),
        (b"\xef\xbb\xbf# coding: utf-8\nx = ", b"\n"),
        (b"a = 1\r\nx = ", b"\r\nb = 2\n"),
        (b"for a in b:\r\n\tx = ", b"  # c\r\n\ty = 2"),
        (b"x = ", b""),
        (b"x = ", b"   \n\n\n"),
        (b"\x0c\nx = ", b"\n\x0c\ny = 1\n"),
        (b"def f():\n    a = 1\n\x0c\n    x = ", b"\n \x0c \n    return x\n"),
        ("def f():\n    é = '😀\u2028\x85'; x = ".encode(), b"\n"),
        (b"if a:\n  if b:\n        x = ", b"\n  else:\n   pass\n"),
        (b"s = '''a\r\n\tb\n'''; x = ", b" ;\n"),
        (b"x = \\\n  ", b"\n"),
        (b"a = 1\rx = ", b"\r"),
        (b"if a:\n    b = 1\n\x0c    x = ", b"\n"),
    ],
)
def test_only_the_edit_differs(before, after):
    assert detached(before, after) == before + b"loss.detach()" + after


@pytest.mark.parametrize(
    ("before", "after", "because"),
    [
        (b"# coding: latin-1\ns = '\xe9'; x = ", b"\n", "a.py is encoded in iso8859-1, and only UTF-8 is edited"),
        (b"x = (" + b"[" * 110, b"]" * 110 + b")\n", "the code around it is nested more than 100 deep"),
        (b"x = '" + b"a" * 10_000 + b"' + ", b"\n", "a line around it is longer than 10 kB"),
        (b"x = [\n" + b"    1111111111,\n" * 25_000, b"]\n", "the statement around it is longer than 400 kB"),
        (b"x = 1" + b" + 1" * 120 + b" + ", b"\n", "the code around it is nested more than 100 deep"),
        (b"print 1\nx = ", b"\n", "a.py was not analysed"),
    ],
)
def test_what_is_not_edited(before, after, because):
    result = detached(before, after)
    assert isinstance(result, str)
    assert result.startswith(because)


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_inserted_lines_end_as_their_neighbours_do(newline):
    content = newline.join([b"\xef\xbb\xbffor x in y:", b"\tstep()", b""])
    snapshot = Snapshot.of({"a.py": content})
    start = content.index(b"step") - 3
    (fix,) = draft([Proposal("zero", Safety.SAFE, (InsertBefore(Span("a.py", start, start + 6), ("if a:", "    zero()")),))], snapshot)
    assert not isinstance(fix, Refused)
    assert apply(snapshot, fix.edits)["a.py"] == newline.join([b"\xef\xbb\xbffor x in y:", b"\tif a:", b"\t\tzero()", b"\tstep()", b""])
    assert fix.edits == (Edit(Span("a.py", start - 1, start - 1), newline.join([b"\tif a:", b"\t\tzero()", b""]).decode()),)


def test_a_hostile_neighbour_is_not_looked_at():
    huge = b"y = 1" + b" + 1" * 90 + b"\n" + b"z = [" + b"1, " * 20_000 + b"]\n"
    assert detached(huge + b"x = ", b"\n" + huge) == huge + b"x = loss.detach()\n" + huge


@pytest.mark.parametrize("content", [b"a = 1\rstep()\r", b"if a:\n    b = 1\n\x0c    step()\n"])
def test_what_libcst_does_not_give_back_is_not_edited(content):
    snapshot = Snapshot.of({"a.py": content})
    start = content.index(b"step")
    (fix,) = draft([Proposal("gone", Safety.SAFE, (RemoveStatement(Span("a.py", start, start + 6)),))], snapshot)
    assert fix == Refused("LibCST does not give these lines back byte for byte")
