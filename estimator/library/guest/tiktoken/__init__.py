"""``tiktoken``: a vocabulary that makes rows of numbers of texts; how long a row is, only known texts tell."""

from preflight_host import encoded, unknown_number

#: Sizes of the vocabularies that have a name.
_SIZES = {"gpt2": 50257, "r50k_base": 50257, "p50k_base": 50281, "cl100k_base": 100277, "o200k_base": 200019}


class Encoding:
    def __init__(self, name, *, pat_str=None, mergeable_ranks=None, special_tokens=None, explicit_n_vocab=None):
        self.name = name
        self.n_vocab = explicit_n_vocab if explicit_n_vocab is not None else _SIZES.get(name, unknown_number("the size of the vocabulary"))
        self.max_token_value = self.n_vocab - 1
        self.eot_token = self.n_vocab - 1

    def encode(self, text, **options):
        return encoded(text)

    encode_ordinary = encode

    def encode_batch(self, texts, **options):
        return [encoded(text) for text in texts]

    encode_ordinary_batch = encode_batch

    def encode_single_token(self, text):
        return 0

    def decode(self, tokens, **options):
        return ""

    def decode_batch(self, batch, **options):
        return ["" for _ in batch]


def get_encoding(name):
    return Encoding(name)


def encoding_for_model(name):
    return Encoding("cl100k_base")
