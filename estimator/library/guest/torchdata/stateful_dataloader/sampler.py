"""``torchdata``'s samplers: the ordinary ones, whose position can be saved."""

from torch.utils.data import DistributedSampler, RandomSampler


class StatefulDistributedSampler(DistributedSampler):
    def state_dict(self):
        return {}

    def load_state_dict(self, state_dict):
        pass


class StatefulRandomSampler(RandomSampler):
    state_dict = StatefulDistributedSampler.state_dict
    load_state_dict = StatefulDistributedSampler.load_state_dict
