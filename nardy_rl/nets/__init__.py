"""The value network in torch: for learning, and as a frozen copy for self-play."""

from nardy_rl.nets.device import pick_device, pick_precision
from nardy_rl.nets.frozen import FrozenNet
from nardy_rl.nets.mlp import ValueNet

__all__ = ["FrozenNet", "ValueNet", "pick_device", "pick_precision"]
