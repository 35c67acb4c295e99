"""``torchtext.data.utils``: a text as its words."""

from preflight_host import encoded


def get_tokenizer(tokenizer, language="en"):
    return tokenizer if callable(tokenizer) else encoded
