"""``torchtext.vocab``: the words of texts that nobody has read; how many they are is assumed."""

import torch
from preflight_host import encoded

#: Different words of a set of texts: as many as the usual ones with about 30,000 sentences have.
WORDS = 30000


def words():
    torch._C._assume(f"how many different words the texts hold is not known: a vocabulary of {WORDS} is taken")
    return WORDS


class Vocab:
    def __init__(self, *args, **options):
        pass

    def __len__(self):
        return words()

    def __call__(self, tokens):
        return encoded(tokens)

    lookup_indices = __call__

    def __getitem__(self, token):
        return 0

    def __contains__(self, token):
        return True

    def set_default_index(self, index):
        pass

    def get_stoi(self):
        return {}

    def get_itos(self):
        return []

    lookup_tokens = get_itos


def build_vocab_from_iterator(iterator, min_freq=1, specials=None, special_first=True, max_tokens=None):
    return Vocab()


vocab = build_vocab_from_iterator


class Vectors:
    """Published vectors of words; their width is the end of their name."""

    def __init__(self, name="840B", dim=300, **options):
        self.dim = dim

    def __len__(self):
        return words()

    @property
    def vectors(self):
        return torch.zeros(words(), self.dim)

    def get_vecs_by_tokens(self, tokens, lower_case_backup=False):
        return torch.zeros(self.dim) if isinstance(tokens, str) else torch.zeros(len(tokens), self.dim)


GloVe = FastText = CharNGram = Vectors
