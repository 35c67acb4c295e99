a, *b, c = range(5)
(x, y), z = (1, 2), 3
r = (a, b, c, x, y, z)
