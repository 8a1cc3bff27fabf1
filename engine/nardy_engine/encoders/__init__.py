"""Positions to network inputs; every encoder has an id and a version that checkpoints carry."""

from nardy_engine.encoders.thermometer import Encoder, encoder_ids, get_encoder

__all__ = ["Encoder", "encoder_ids", "get_encoder"]
