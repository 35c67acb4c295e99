try:
    {}['a']
except KeyError:
    r = 'missing'
