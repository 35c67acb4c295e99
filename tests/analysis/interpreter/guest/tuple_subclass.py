from typing import Tuple


class Pair(tuple):
    def swapped(self):
        return Pair((self[1], self[0]))


class Output(Tuple):
    loss: int
    rest: str


first, second = Pair([1, 2]).swapped()
loss, rest = Output((3, "a"))
r = (first, second, loss, rest, len(Pair((1, 2))), 2 in Pair((1, 2)), [each + 1 for each in Pair((1, 2))], Pair((5, 5)).count(5), len(Pair()))
