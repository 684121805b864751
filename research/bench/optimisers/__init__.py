"""How losses are minimised: which optimiser, how fast, and with what rates."""
