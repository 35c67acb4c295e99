import collections
from collections import Counter, UserDict, defaultdict


class Tracker(collections.defaultdict):
    def __init__(self):
        super().__init__(int)

    def __add__(self, other):
        total = Tracker()
        for key, value in self.items():
            total[key] = value
        for key, value in other.items():
            total[key] = total[key] + value
        return total

    def __mul__(self, factor):
        scaled = Tracker()
        for key, value in self.items():
            scaled[key] = value * factor
        return scaled


class Lists(defaultdict):
    pass


class Count(Counter):
    pass


class Named(UserDict):
    pass


first, second = Tracker(), Tracker()
first["loss"] = 3
second["loss"], second["frames"] = 4, 10
total = (first * 2) + second
lists = Lists(list)
lists["a"].append(1)
count = Count()
count["x"] += 2
named = Named({"a": 1}, b=2)
r = (sorted(total.items()), total["none"], lists["a"], count["x"], count["y"], sorted(named.keys()))
