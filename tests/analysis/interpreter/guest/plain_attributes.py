class Settings:
    frozen = False
    def __init__(self, **given):
        for key, value in given.items():
            self.__setattr__(key, value)
    def __getitem__(self, name): return self.__getattr__(name)
    def __getattr__(self, name):
        try:
            return self.__getattribute__(name)
        except AttributeError:
            if self.frozen:
                raise
            self.__setattr__(name, Settings())
            return object.__getattribute__(self, name)
class Loud(Settings):
    def read(self, name): return super().__getattribute__(name)
s = Loud(lr=0.1)
s.train.steps = 3
try:
    s.read('missing')
except AttributeError as error:
    said = type(error).__name__
r = (s.lr, s['lr'], s.train.steps, s.frozen, s.read('lr'), said)
