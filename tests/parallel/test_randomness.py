"""Processes draw numbers of their own, and leave those of all as they are."""

import torch

from skpresto._parallel.randomness import own_randomness


def drawn(rank, epoch):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        with own_randomness(rank, epoch, "cpu"):
            return torch.rand(3).tolist()


def test_numbers_differ_between_processes_and_epochs():
    several = [drawn(rank, epoch) for rank in range(3) for epoch in range(3)]
    assert len({tuple(numbers) for numbers in several}) == 9


def test_numbers_are_the_same_when_an_epoch_is_repeated():
    assert drawn(1, 2) == drawn(1, 2)


def test_the_common_numbers_go_on_as_without_the_block():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        expected = torch.rand(3)
        torch.manual_seed(5)
        with own_randomness(0, 0, "cpu"):
            torch.rand(7)
        torch.testing.assert_close(torch.rand(3), expected, rtol=0, atol=0)
