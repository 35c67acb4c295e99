"""Expressions are wrapped, replaced and unwrapped, with parentheses where the meaning needs them and nowhere else."""

import pytest

from analysis.fixes.change import ReplaceExpression, UnwrapCall, WrapExpression

pytestmark = pytest.mark.usefixtures("in_process", "either_way")


@pytest.mark.parametrize(
    ("code", "after", "expected"),
    [
        ("total += ⟦loss⟧  # kept\n", ".detach()", "total += loss.detach()  # kept\n"),
        ("total += ⟦model(x).loss[0]⟧\n", ".detach()", "total += model(x).loss[0].detach()\n"),
        ("total += ⟦a + b⟧\n", ".detach()", "total += (a + b).detach()\n"),
        ("total += (⟦a + b⟧)\n", ".detach()", "total += (a + b).detach()\n"),
        ("total += (\n    ⟦a\n    + b⟧  # two\n)\n", ".detach()", "total += (\n    a\n    + b  # two\n).detach()\n"),
        ("total += ⟦-loss⟧\n", ".detach()", "total += (-loss).detach()\n"),
        ("total += ⟦-loss⟧\n", " / n", "total += -loss / n\n"),
        ("total += ⟦a + b⟧\n", " / n", "total += (a + b) / n\n"),
        ("total += ⟦a * b⟧\n", " / n", "total += a * b / n\n"),
        ("total = 2 ** ⟦loss⟧\n", " / n", "total = 2 ** (loss / n)\n"),
        ("total = ⟦loss⟧ ** 2\n", " / n", "total = (loss / n) ** 2\n"),
        ("total = ⟦loss⟧.mean()\n", " / n", "total = (loss / n).mean()\n"),
        ("f(⟦a if b else c⟧)\n", ".item()", "f((a if b else c).item())\n"),
        ("f(x=⟦y⟧, *z)\n", ".item()", "f(x=y.item(), *z)\n"),
        ("f(\n    ⟦a +\n    b⟧,\n)\n", " / n", "f(\n    (a +\n    b) / n,\n)\n"),
        ('s = "é😀"; total += ⟦loss⟧\n', ".item()", 's = "é😀"; total += loss.item()\n'),
    ],
)
def test_what_follows_an_expression(edited, code, after, expected):
    assert edited(code, lambda span: WrapExpression(span, after=after)) == expected


def test_the_result_of_a_statement_is_kept(edited):
    assert (
        edited("def f(x):\n    ⟦x.to(\n        device)⟧\n", lambda span: WrapExpression(span, before="x = ")) == "def f(x):\n    x = x.to(\n        device)\n"
    )


def test_a_call_around_an_expression(edited):
    assert edited("y = ⟦a + b⟧\n", lambda span: WrapExpression(span, "torch.sigmoid(", ")")) == "y = torch.sigmoid(a + b)\n"


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        ("x = ⟦F.nll_loss⟧(a, b)\n", "F.cross_entropy", "x = F.cross_entropy(a, b)\n"),
        ("x = ⟦a⟧ * c\n", "a + b", "x = (a + b) * c\n"),
        ("x = (⟦a + b⟧) * c\n", "d", "x = d * c\n"),
        ("x = ⟦a⟧\n", "b, c", "x = b, c\n"),
        ("f(⟦a⟧)\n", "b, c", "f((b, c))\n"),
        ("x = (⟦a  # why\n    + b⟧)\n", "c", "no: a comment would be lost"),
        ("x = ⟦a⟧\n", "b +", "no: the changed lines would not be valid Python"),
        ('x = f"{⟦a⟧}"\n', "b", "no: it is inside an f-string"),
    ],
)
def test_another_expression(edited, code, text, expected):
    assert edited(code, lambda span: ReplaceExpression(span, text)) == expected


def test_two_arguments_change_places(edited):
    code = "loss = F.cross_entropy(⟦target⟧, ⟦logits⟧, reduction='sum')\n"
    swapped = edited(code, lambda first, second: (ReplaceExpression(first, "logits"), ReplaceExpression(second, "target")))
    assert swapped == "loss = F.cross_entropy(logits, target, reduction='sum')\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("y = ⟦F.softmax(x, dim=1)⟧\n", "y = x\n"),
        ("y = ⟦F.softmax(a + b, dim=1)⟧ * c\n", "y = (a + b) * c\n"),
        ("y = g(⟦F.softmax(\n    a +\n    b, dim=1)⟧, z)\n", "y = g(a +\n    b, z)\n"),
        ("y = ⟦F.softmax(\n    a +\n    b, dim=1)⟧\n", "y = (a +\n    b)\n"),
        ("y = ⟦F.softmax(x,  # logits\n    dim=1)⟧\n", "no: a comment would be lost"),
        ("y = ⟦F.softmax(input=x)⟧\n", "no: the call has no first argument to keep"),
        ("y = ⟦F.softmax(*x)⟧\n", "no: the call has no first argument to keep"),
    ],
)
def test_a_call_becomes_its_first_argument(edited, code, expected):
    assert edited(code, UnwrapCall) == expected


def test_a_call_becomes_the_expression_it_is_called_on(edited):
    assert edited("y = ce(⟦⟦model(x)⟧.softmax(1)⟧, y)\n", UnwrapCall) == "y = ce(model(x), y)\n"
