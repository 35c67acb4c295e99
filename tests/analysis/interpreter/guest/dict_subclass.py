class S(dict):
    def __missing__(self, k):
        self[k] = len(self)
        return self[k]
s = S()
s['x']
r = (s['y'], len(s), list(s), 'x' in s)
