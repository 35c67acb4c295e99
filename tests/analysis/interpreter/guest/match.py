def f(x):
    match x:
        case 1 | 2: return 'small'
        case [a, b]: return a + b
        case None: return 'none'
        case str(): return 'text'
        case _: return 'other'
r = [f(v) for v in (1, [3, 4], None, 'q', 9.5)]
