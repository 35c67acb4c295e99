def g():
    i = 0
    while True:
        yield i
        i += 1
r = []
for x in g():
    if x > 3: break
    r.append(x)
