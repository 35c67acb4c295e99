"""``torchtext.legacy.datasets``: public texts by the names of their columns."""

from torchtext.legacy.data import Columns


class _Labelled(Columns):
    """Columns of texts, which share a field, and one of labels."""

    texts = ("text",)
    parts = 3

    def __init__(self, text_field, label_field):
        super().__init__({**{name: text_field for name in self.texts}, "label": label_field})

    @classmethod
    def splits(cls, text_field, label_field, *others, **options):
        return tuple([cls(text_field, label_field) for _ in range(cls.parts)])


class SNLI(_Labelled):
    texts = ("premise", "hypothesis")
    labels = 3
    length = 549367


class MultiNLI(SNLI):
    length = 392702


class SST(_Labelled):
    labels = 3
    length = 8544


class TREC(_Labelled):
    labels = 6
    length = 5452
    parts = 2


class IMDB(_Labelled):
    length = 25000
    parts = 2


class Multi30k(Columns):
    length = 29000

    @classmethod
    def splits(cls, exts=None, fields=(), **options):
        return tuple([cls({"src": fields[0], "trg": fields[1]}) for _ in range(3)])


class IWSLT(Multi30k):
    length = 196884
