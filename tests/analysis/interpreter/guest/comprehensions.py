n = 3
r = ([i * n for i in range(4) if i % 2], {k: v for k, v in zip('ab', range(2))}, {i for i in (1, 1)}, sum(i for i in range(5)))
