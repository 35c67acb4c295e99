"""Statements come, go, move and are indented; comments stay with what they are about."""

import pytest

from analysis.fixes.change import AddDecorator, InsertAfter, InsertBefore, MoveStatement, RemoveStatement, WrapExpression, WrapInBlock

pytestmark = pytest.mark.usefixtures("in_process", "either_way")

ZERO = ("optimizer.zero_grad()",)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("⟦step()⟧\n", "optimizer.zero_grad()\nstep()\n"),
        ("# one\n\n# two\n⟦step()⟧\n", "# one\n\noptimizer.zero_grad()\n# two\nstep()\n"),
        ("for x in y:\n\tloss()\n\n\t# go\n\t⟦step()⟧  # on\n", "for x in y:\n\tloss()\n\n\toptimizer.zero_grad()\n\t# go\n\tstep()  # on\n"),
        ("a(); ⟦step()⟧; b()  # c\n", "a()\noptimizer.zero_grad()\nstep()\nb()  # c\n"),
        ("if x: ⟦step()⟧  # c\n", "if x:\n    optimizer.zero_grad()\n    step()  # c\n"),
        ("if x:\n  y()\nelse: ⟦step()⟧; b()\n", "if x:\n  y()\nelse:\n  optimizer.zero_grad()\n  step()\n  b()\n"),
        ("a = 1\n@d\n⟦def f():\n    pass⟧\n", "a = 1\noptimizer.zero_grad()\n@d\ndef f():\n    pass\n"),
        ('def f():\n    ⟦"""Doc."""⟧\n', "no: nothing may stand before that statement"),
        ("⟦from __future__ import annotations⟧\n", "no: nothing may stand before that statement"),
        ("if a:\n    b()\n⟦elif c:\n    d()⟧\n", "no: its place is not a statement of a block"),
    ],
)
def test_a_statement_comes_before(edited, code, expected):
    assert edited(code, lambda span: InsertBefore(span, ZERO)) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("⟦step()⟧", "step()\noptimizer.zero_grad()"),
        ("for x in y:\n    ⟦step()⟧  # c\n# end\n", "for x in y:\n    step()  # c\n    optimizer.zero_grad()\n# end\n"),
        ("for x in y:\n    ⟦if z:\n        step()\n        # foot⟧\n    b()\n", "no: its place is not a statement of a block"),
        (
            "for x in y:\n    ⟦if z:\n        step()⟧\n        # foot\n    b()\n",
            "for x in y:\n    if z:\n        step()\n        # foot\n    optimizer.zero_grad()\n    b()\n",
        ),
        ("def f():\n    if x: ⟦step()⟧\n    return 1\n", "def f():\n    if x:\n        step()\n        optimizer.zero_grad()\n    return 1\n"),
    ],
)
def test_a_statement_comes_after(edited, code, expected):
    assert edited(code, lambda span: InsertAfter(span, ZERO)) == expected


def test_compound_lines_take_the_indentation_of_the_file(edited):
    lines = ("# every so often", "if ready:", "    step()")
    expected = "for x in y:\n\tloss()\n\t# every so often\n\tif ready:\n\t\tstep()\n"
    assert edited("for x in y:\n\t⟦loss()⟧\n", lambda span: InsertAfter(span, lines)) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a()\n\n# why\n⟦b()⟧  # gone\nc()\n", "a()\n\n# why\nc()\n"),
        ("def f():\n    a()\n\n    ⟦b()⟧\n\n    c()\n", "def f():\n    a()\n\n    c()\n"),
        ("a(); ⟦b()⟧\n", "a()\n"),
        ("if x:\n    a()\n    # why\n    ⟦b()⟧\nc()\n", "if x:\n    a()\n    # why\nc()\n"),
        ("if x:\n    ⟦b()⟧\nc()\n", "no: it is the only statement of its block"),
        ("if x: ⟦b()⟧\n", "no: it is the only statement of its block"),
    ],
)
def test_a_statement_goes(edited, code, expected):
    assert edited(code, RemoveStatement) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "for x in y:\n    ⟦forward()⟧\n    backward()\n    # clear\n    ⟦zero()⟧  # now\n    step()\n",
            "for x in y:\n    # clear\n    zero()  # now\n    forward()\n    backward()\n    step()\n",
        ),
        ("⟦forward()⟧; backward(); ⟦zero()⟧\n", "zero()\nforward()\nbackward()\n"),
        ("⟦for x in y:\n    forward()\n    ⟦zero()⟧⟧\n", "zero()\nfor x in y:\n    forward()\n"),
        (
            "if x:\n    ⟦a()⟧\nfor x in y:\n    b()\n    ⟦if c:\n        d('''\nraw''')⟧\n",
            "if x:\n    if c:\n        d('''\nraw''')\n    a()\nfor x in y:\n    b()\n",
        ),
    ],
)
def test_a_statement_moves_up(edited, code, expected):
    assert edited(code, lambda target, moved: MoveStatement(moved, before=target)) == expected


def test_a_statement_moves_down(edited):
    code = "for x in y:\n    ⟦scheduler.step()⟧\n    ⟦optimizer.step()⟧\n"
    assert edited(code, lambda moved, target: MoveStatement(moved, after=target)) == "for x in y:\n    optimizer.step()\n    scheduler.step()\n"


def test_a_statement_does_not_move_into_itself(edited):
    code = "⟦for x in y:\n    ⟦step()⟧⟧\n"
    assert edited(code, lambda moved, target: MoveStatement(moved, after=target)) == "no: a statement cannot move into itself"


def test_a_move_goes_either_before_or_after(edited):
    with pytest.raises(ValueError, match="either before or after"):
        edited("⟦a()⟧\n", MoveStatement)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "def f():\n    # in\n    ⟦a(1,\n      2)⟧\n\n    ⟦b('''\n  raw''')⟧  # end\n    return 1\n",
            "def f():\n    # in\n    with no_grad():\n        a(1,\n          2)\n\n        b('''\n  raw''')  # end\n    return 1\n",
        ),
        ("if x: ⟦a()⟧; ⟦b()⟧; c()\n", "if x:\n    with no_grad():\n        a()\n        b()\n    c()\n"),
        ("⟦a()⟧\nif x:\n    ⟦b()⟧\n", "no: its first and last statement are not in the same block"),
    ],
)
def test_statements_go_under_a_header(edited, code, expected):
    assert edited(code, lambda first, last: WrapInBlock(first, last, "with no_grad():")) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("# about f\n⟦def f():\n    pass⟧\n", "# about f\n@torch.no_grad()\ndef f():\n    pass\n"),
        (
            "class A:\n    @d  # first\n    ⟦async def f(self):\n        pass⟧\n",
            "class A:\n    @d  # first\n    @torch.no_grad()\n    async def f(self):\n        pass\n",
        ),
        ("⟦x = 1⟧\n", "no: its place cannot be changed by itself"),
    ],
)
def test_a_decorator_is_added(edited, code, expected):
    assert edited(code, lambda span: AddDecorator(span, "torch.no_grad()")) == expected


def test_changes_of_one_proposal_meet(edited):
    code = "⟦for x in y:\n    total += ⟦loss⟧⟧\n"
    made = edited(
        code, lambda loop, loss: (InsertBefore(loop, ("model.eval()",)), InsertAfter(loop, ("model.train()",)), WrapExpression(loss, after=".item()"))
    )
    assert made == "model.eval()\nfor x in y:\n    total += loss.item()\nmodel.train()\n"


def test_changes_of_one_proposal_do_not_fight(edited):
    code = "def f():\n    ⟦a()⟧\n    ⟦b(⟦c⟧)⟧\n"
    made = edited(code, lambda target, moved, part: (MoveStatement(moved, before=target), WrapExpression(part, after=".item()")))
    assert made == "no: two of its changes are made in the same place"
