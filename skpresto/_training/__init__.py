"""The training core: epochs, policies, history and checkpoints.

skorch runs an epoch, the Trainer runs the phases, the policy says what a mini-batch
learns from. What several methods share is here too, such as Prestopping's phases
and the refurbishment of labels.
"""
