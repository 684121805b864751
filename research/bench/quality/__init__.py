"""Which settings, losses and models rank best: chosen on validation data, tested once."""
