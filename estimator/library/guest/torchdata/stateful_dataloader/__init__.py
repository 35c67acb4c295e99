"""``torchdata``'s loader: the ordinary one, whose position can be saved."""

from torch.utils.data import DataLoader


class StatefulDataLoader(DataLoader):
    def state_dict(self):
        return {}

    def load_state_dict(self, state_dict):
        pass
