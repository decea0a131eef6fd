"""Fits that can be killed and go on: a folder in which progress is stored."""
