"""``torchtext.datasets``: one text, or a label and a text, or a text in two languages, over and over."""

from preflight_host import column_of
from torch.utils.data import IterableDataset


class _Texts(IterableDataset):
    """``columns`` are those of a sample, ``length`` how many samples the part for training has."""

    columns = ("text",)
    length = 100000
    categories = 2

    def __init__(self, root=None, split=None, **options):
        pass

    def __new__(cls, root=None, split="train", **options):
        made = super().__new__(cls)
        return made if not isinstance(split, (tuple, list)) else tuple([made for _ in split])

    def __getitem__(self, index):
        found = [1 if column == "label" else column_of({}, column) for column in self.columns]
        return found[0] if len(found) == 1 else tuple(found)

    def __iter__(self):
        for index in range(self.length):
            yield self[index]

    def __len__(self):
        return self.length


class _Labelled(_Texts):
    columns = ("label", "text")


class _Pairs(_Texts):
    columns = ("source", "target")


class AG_NEWS(_Labelled):
    length = 120000
    categories = 4


class IMDB(_Labelled):
    length = 25000


class YelpReviewPolarity(_Labelled):
    length = 560000


class YelpReviewFull(_Labelled):
    length = 650000
    categories = 5


class DBpedia(_Labelled):
    length = 560000
    categories = 14


class AmazonReviewPolarity(_Labelled):
    length = 3600000


class SST2(_Texts):
    columns = ("text", "label")
    length = 67349


class Multi30k(_Pairs):
    length = 29000


class IWSLT2016(_Pairs):
    length = 196884


class IWSLT2017(_Pairs):
    length = 206112


class WikiText2(_Texts):
    length = 36718


class WikiText103(_Texts):
    length = 1801350


class PennTreebank(_Texts):
    length = 42068
