"""A fit on several processes: each computes a part of every batch.

All processes draw the same batches. Each evaluates the networks on its own rows, and
all see the outputs of all rows; whatever follows from outputs (losses, predictions,
what a policy selects, records, the stop point) is computed in every process. Gradients
are added up. So the networks and all decisions are the same everywhere.
"""
