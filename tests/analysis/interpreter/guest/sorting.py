r = (sorted([3, 1, 2], key=lambda v: -v), min(4, 2), max([1, 5]), sum([1, 2], 10), any([0, 1]), all([1, 0]), list(reversed([1, 2])), list(enumerate('ab', 1)))
