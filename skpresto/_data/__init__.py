"""Samples, the order in which they are visited, and mini-batches of them."""
