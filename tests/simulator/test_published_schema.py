"""A second opinion on GraphQL: GitHub's published schema, which nobody here wrote, takes our queries and knows what the simulator knows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from graphql import GraphQLInputObjectType, GraphQLInterfaceType, GraphQLObjectType, build_schema, parse, validate

from bot.github import comments, commit, conversation, threads
from bot.github.blobs import texts_document
from simulator.graphql.execute import schema

ROOT = Path(__file__).parents[2]
PUBLISHED = build_schema((Path(__file__).parent / "graphql_schema/github.graphql").read_text())
DOCUMENTS = {
    "comments": comments._HIDE,
    "commit": commit._COMMIT,
    "conversation": conversation._DOCUMENT,
    "threads": threads._RESOLVE,
    "blobs": texts_document(["0" * 40, "1" * 40]),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_github_takes_our_documents(name: str) -> None:
    assert validate(PUBLISHED, parse(DOCUMENTS[name])) == []


def test_a_misspelt_field_would_be_noticed() -> None:
    misspelt = DOCUMENTS["conversation"].replace("headRefOid", "headRefOld")
    assert [error.message.partition(".")[0] for error in validate(PUBLISHED, parse(misspelt))] == ["Cannot query field 'headRefOld' on type 'PullRequest'"]


def test_there_are_no_other_documents() -> None:
    asking = {path.stem for path in (ROOT / "bot").rglob("*.py") if re.search(r"(?:query|mutation)\(\$", path.read_text())}
    assert asking == DOCUMENTS.keys()


def test_the_simulator_knows_nothing_that_github_does_not() -> None:
    invented = []
    for name, kind in schema().type_map.items():
        published = PUBLISHED.type_map.get(name)
        if name.startswith("__"):
            continue
        if published is None:
            invented.append(name)
        elif isinstance(kind, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType):
            theirs = {field: str(value.type) for field, value in published.fields.items()}  # type: ignore[attr-defined]  # of the same kind
            invented += [f"{name}.{field}: {value.type}" for field, value in kind.fields.items() if theirs.get(field) != str(value.type)]
    assert invented == []
