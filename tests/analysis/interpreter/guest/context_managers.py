log = []
class M:
    def __enter__(self):
        log.append('in')
        return 5
    def __exit__(self, k, v, t):
        log.append('out')
        return True
with M() as m:
    raise ValueError()
r = (m, log)
