"""``gymnasium``: environments by name, of which the shapes of observations and actions are known. Source: gymnasium.farama.org/environments."""

from preflight_host import unknown_number
from numpy import zeros

#: Shape of an observation, number of actions (a shape: of numbers), and the reward that counts as solved.
_KNOWN = {
    "CartPole-v0": ((4,), 2, 195.0),
    "CartPole-v1": ((4,), 2, 475.0),
    "MountainCar-v0": ((2,), 3, -110.0),
    "MountainCarContinuous-v0": ((2,), (1,), 90.0),
    "Acrobot-v1": ((6,), 3, -100.0),
    "Pendulum-v1": ((3,), (1,), None),
    "LunarLander-v2": ((8,), 4, 200.0),
    "LunarLander-v3": ((8,), 4, 200.0),
    "BipedalWalker-v3": ((24,), (4,), 300.0),
    "CarRacing-v3": ((96, 96, 3), (3,), 900.0),
    "HalfCheetah-v4": ((17,), (6,), 4800.0),
    "Hopper-v4": ((11,), (3,), 3800.0),
    "Walker2d-v4": ((17,), (6,), None),
    "Ant-v4": ((27,), (8,), 6000.0),
    "Humanoid-v4": ((376,), (17,), None),
    "InvertedPendulum-v4": ((4,), (1,), 950.0),
    "Reacher-v4": ((11,), (2,), -3.75),
    "Swimmer-v4": ((8,), (2,), 360.0),
}


class _Space:
    def __init__(self, shape):
        self.shape = shape

    def seed(self, seed=None):
        pass


class Box(_Space):
    def __init__(self, low=None, high=None, shape=(), dtype=None):
        self.shape = shape
        self.low = zeros(shape, dtype="float32")
        self.high = zeros(shape, dtype="float32")

    def sample(self):
        return zeros(self.shape, dtype="float32")


class Discrete(_Space):
    def __init__(self, n, **options):
        self.n = n
        self.shape = ()

    def sample(self):
        return 0


class spaces:
    Box = Box
    Discrete = Discrete


class _Spec:
    def __init__(self, name, threshold):
        self.id = name
        self.reward_threshold = threshold
        self.max_episode_steps = 500


class Env:
    def __init__(self, name="", **options):
        shape, actions, threshold = _KNOWN[name]
        self.spec = _Spec(name, threshold)
        self.observation_space = Box(shape=shape)
        self.action_space = Discrete(actions) if isinstance(actions, int) else Box(shape=actions)

    @property
    def unwrapped(self):
        return self

    def reset(self, seed=None, options=None):
        return self.observation_space.sample(), {}

    def step(self, action):
        reward = unknown_number("the reward of a step")
        return self.observation_space.sample(), reward, False, False, {}

    def render(self, *args, **options):
        pass

    def close(self):
        pass

    def seed(self, seed=None):
        pass


def make(name, **options):
    return Env(name, **options)
