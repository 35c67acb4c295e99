class Open(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self
class Plain: pass
o = Open({'lr': 0.1}, steps=3)
o.size = 4
o['depth'] = 5
p = Plain()
p.__dict__ = {'x': 1}
p.y = 2
r = (o.lr, o['size'], o.depth, len(o), sorted(o), 'steps' in o, hasattr(o, 'steps'), o.get('none', 7), [k for k, _ in o.items()], p.x + p.y)
