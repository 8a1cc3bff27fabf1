"""How fast this machine runs the engine, the network and the training loop."""

from nardy_rl.bench.measuring import Figure, Measurement, measure, rate

__all__ = ["Figure", "Measurement", "measure", "rate"]
