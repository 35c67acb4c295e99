"""The statement and the function around a position."""

import ast

import pytest

from analysis.enclosing import enclosing
from analysis.source import SourceFile, Span, read

CODE = b"""
class A:
    @decorated(here)
    def m(self):
        try:
            with a, b:
                one()
        except E:
            two()
        match x:
            case 1:
                three()
        if p:
            four()
        elif q:
            five()
six()
"""


@pytest.mark.parametrize(
    ("name", "kind", "qualname", "depth"),
    [
        ("one", ast.Expr, "A.m", 5),
        ("two", ast.Expr, "A.m", 4),
        ("three", ast.Expr, "A.m", 4),
        ("four", ast.Expr, "A.m", 4),
        ("five", ast.Expr, "A.m", 5),
        ("six", ast.Expr, "", 1),
        ("here", ast.FunctionDef, "A.m", 2),
        ("E:", ast.Try, "A.m", 3),
    ],
)
def test_enclosing(name, kind, qualname, depth):
    source = read("a.py", CODE)
    assert isinstance(source, SourceFile)
    at = CODE.index(name.encode())
    around = enclosing(source, Span("a.py", at, at + 1))
    assert isinstance(around.statement, kind)
    assert (around.qualname, len(around.statements)) == (qualname, depth)
    assert (around.function is not None) == (qualname != "")
