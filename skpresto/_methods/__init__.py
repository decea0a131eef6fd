"""One file per method: what is learned from a batch, and the classifier.

Files that begin with an underscore hold what several methods share.
"""
