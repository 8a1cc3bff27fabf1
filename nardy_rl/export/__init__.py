"""Networks for other programs: ONNX, a manifest, reference vectors, an example; layer: nardy_rl."""
