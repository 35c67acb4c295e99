"""Checked dataclasses: the fields are what they are."""


def strict(cls=None, **options):
    return same if cls is None else cls


def same(value):
    return value


validate_typed_dict = as_validated_field = strict
