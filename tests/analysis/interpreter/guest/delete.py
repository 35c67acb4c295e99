d = {'a': 1, 'b': 2}
del d['a']
l = [1, 2, 3]
del l[0]
r = (d, l)
