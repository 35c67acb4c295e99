"""Methods that are named by the type, members of enumerations with a constructor, and lists that are extended by long ones."""

from enum import Enum


class Place(Enum):
    HOST = ("cpu", 0)
    CARD = ("cuda", 1)

    def __init__(self, kind, number):
        self.kind = kind
        self.number = number

    @staticmethod
    def of(kind):
        for member in Place:
            if member.kind == kind:
                return member
        raise ValueError(kind)

    @property
    def doubled(self):
        return 2 * self.number


digits = [str.isdigit(text) for text in ["1", "a"]]
names = list(map(str.upper, ["x", "y"]))
unique = list(dict.fromkeys([1, 2, 1]))
long = [0]
long += [1] * 5000
long.extend([2] * 5000)
r = (digits, names, unique, Place.of("cuda").number, Place.CARD.doubled, len(list(Place)), len(long))
