d = {'a': 1}
d['b'] = 2
d.setdefault('c', []).append(3)
l = [1, *range(3)]
l[1:2] = [8, 9]
r = (d, l, {1, 2} | {3}, l[::-1], 'b' in d)
