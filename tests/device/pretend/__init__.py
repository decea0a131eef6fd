"""A pretend CUDA device: two GPUs whose operators are computed by CPU kernels.

It is compiled for the installed torch by the first process that needs it, and has to be
loaded before torch looks for CUDA. So tests on it run in processes of their own, see
``tests/device/test_on_pretend_device.py``.
"""
