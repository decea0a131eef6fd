"""Training: stages of epochs under policies, recorded, and undone to the stop point."""
