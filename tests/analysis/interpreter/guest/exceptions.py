log = []
def f(x):
    try:
        if x: raise ValueError('v')
        log.append('ok')
    except (KeyError, ValueError) as e:
        log.append(e.args[0])
        return 'caught'
    else:
        log.append('else')
    finally:
        log.append('finally')
    return 'through'
r = (f(0), f(1), log)
