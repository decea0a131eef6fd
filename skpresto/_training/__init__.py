"""The training core: epochs, policies, history and checkpoints.

skorch runs an epoch, the Trainer runs the phases, the policy says what a mini-batch
learns from. Nothing here knows any single method.
"""
