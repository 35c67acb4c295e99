"""Running figures of a training run."""


class History:
    def __init__(self):
        self.losses = []

    def add(self, loss):
        self.losses.append(loss)

    def mean(self):
        return sum(float(loss) for loss in self.losses) / len(self.losses)
