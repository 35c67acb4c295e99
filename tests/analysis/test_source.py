"""Bytes to trees: spans count as the parser counts, in every encoding and with every line end that Python reads."""

import ast

import pytest

from analysis.source import NotAnalysed, Position, SourceFile, read


def parsed(raw: bytes) -> SourceFile:
    source = read("a.py", raw)
    assert isinstance(source, SourceFile), source
    return source


def name(source: SourceFile, wanted: str) -> ast.Name:
    return next(node for node in ast.walk(source.tree) if isinstance(node, ast.Name) and node.id == wanted)


@pytest.mark.parametrize(
    "raw",
    [
        b"a = 1\nz = 2\n",
        b"a = 1\r\nz = 2\r\n",
        b"a = 1\rz = 2\r",
        b"a = 1\r\n\rz = 2\n",
        b"\xef\xbb\xbfa = 1\nz = 2\n",
        b"\xef\xbb\xbf# coding: utf-8\na = 1\nz = 2\n",
        b"\x0c\na = 1\n\x0c\nz = 2\n",
        b"if a:\n\x0c    z = 2\n",
        "a = '\x0b\x0c\x1c\x1d\x85\u2028\u2029'\nz = 2\n".encode(),
        "a = '''\x0b\n\x85\u2028\n'''; é = '😀'; z = 2\n".encode(),
        b"# coding: latin-1\na = '\xe9\xe8'; z = 2\n",
        b"# coding: latin-1\ra = f(encoding='\xe9'); z = 2\r",
        b"#!/bin/python\n# -*- coding: cp1252 -*-\na = '\x80'; z = 2\n",
        "# coding: gbk\na = '中文'; z = 2\n".encode("gbk"),
        b"a = 1; \\\n  z = 2",
        b"if a:\n\tif b:\n\t        z = 2\n",
    ],
)
def test_a_span_holds_the_words_of_its_node(raw):
    source = parsed(raw)
    assert source.text(source.span(name(source, "z"))) == "z"
    assert source.text(source.span(name(source, "a"))) == "a"


def test_positions_are_for_people():
    source = parsed("\ufeffé = 1\n\x0c\nif é:\n    s = '😀é'; z = (\n  2)\n".encode())
    statement = next(node for node in ast.walk(source.tree) if isinstance(node, ast.Assign) and source.text(source.span(node)).startswith("z"))
    assert source.position(source.span(statement)) == Position(4, 15, 5, 5)
    assert source.place(source.span(statement)).line == 4
    assert (source.offset, source.encoding) == (3, "utf-8")


def test_an_encoding_is_named():
    assert parsed(b"# coding: latin-1\n").encoding == "iso8859-1"
    assert parsed(b"\xef\xbb\xbf").encoding == "utf-8"


@pytest.mark.parametrize(
    ("raw", "reason", "line"),
    [
        (b"x = 1\nprint 'a'\n", "not valid Python 3.", 2),
        (b"if a:\n        b\n\tc\n", "not valid Python 3.", 3),
        (b"x = '\xe9'\n", "cannot be decoded: ", 1),
        (b"# coding: klingon\n", "cannot be decoded: ", 1),
        (b"# coding: rot13\n", "cannot be decoded: ", 1),
        (b"# coding: punycode\nx = 1\n", "declares the encoding punycode, which no source is written in", 1),
        (b"\xef\xbb\xbf# coding: latin-1\n", "cannot be decoded: ", 1),
        (b"x = 1\ny = '\x00'\n", "holds NUL bytes, so it is not Python source", 2),
        ("x = 1\n".encode("utf-16"), "is UTF-16, which Python does not read: save it as UTF-8", 1),
        (b"# coding: utf-7\nx = '+2AA-'\n", "cannot be decoded: ", 1),
        (b"<<<<<<< HEAD\n", "not valid Python 3.", 1),
        (b"x = 1" + b"\n" * 1_000_000, "larger than 1 MB", 1),
    ],
)
def test_why_a_file_is_not_read(raw, reason, line):
    refused = read("a.py", raw)
    assert isinstance(refused, NotAnalysed)
    assert refused.reason.startswith(reason)
    assert refused.line == line
