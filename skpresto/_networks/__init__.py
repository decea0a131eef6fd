"""The skorch net, and the networks in it: built, stacked, applied and stored."""
