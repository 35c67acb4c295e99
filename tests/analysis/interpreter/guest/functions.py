def f(a, b=2, *args, c, d=4, **more):
    return a, b, args, c, d, more
r = (f(1, c=3), f(1, 5, 6, 7, c=8, e=9), f(*[1, 2], **{'c': 3}))
