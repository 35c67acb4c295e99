def g(n):
    try:
        for i in range(n):
            got = yield i
            if got: yield got
    finally:
        done.append(1)
    return 7
def h():
    x = yield from g(2)
    yield x
done = []
it = g(3)
r = (next(it), it.send('s'), list(it), list(h()), done)
