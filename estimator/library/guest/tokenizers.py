"""``tokenizers``: a vocabulary in a file that is not at hand; how long a row of numbers is, only known texts tell."""

from preflight_host import encoded, unknown_number


class Encoding:
    def __init__(self, ids):
        self.ids = ids
        self.attention_mask = self.type_ids = ids
        self.tokens = []

    def __len__(self):
        return len(self.ids)


class Tokenizer:
    def __init__(self, model=None):
        self.model = model

    @staticmethod
    def from_file(path):
        return Tokenizer()

    @staticmethod
    def from_pretrained(name, **options):
        return Tokenizer()

    @staticmethod
    def from_str(text):
        return Tokenizer()

    def encode(self, sequence, pair=None, **options):
        return Encoding(encoded(sequence))

    def encode_batch(self, texts, **options):
        return [self.encode(text) for text in texts]

    def decode(self, ids, **options):
        return ""

    def token_to_id(self, token):
        return 0

    def id_to_token(self, number):
        return ""

    def get_vocab(self, **options):
        return {}

    def get_added_tokens_decoder(self):
        return {}

    def get_vocab_size(self, **options):
        return unknown_number("the size of the vocabulary")

    def add_special_tokens(self, tokens):
        return len(tokens)

    add_tokens = add_special_tokens

    def enable_padding(self, **options):
        pass

    no_padding = no_truncation = enable_padding

    def enable_truncation(self, max_length, **options):
        pass
