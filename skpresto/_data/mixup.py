"""Mixup: each row of a batch is mixed with another one, and so are their targets."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from skpresto._data.augment import Augment
from skpresto._data.batch import View
from skpresto._data.features import copied, join_parts, map_parts, on_device, parts_of

#: Weights are drawn from the distribution Beta(alpha, alpha), as DivideMix and SSR do.
_ALPHA = 4.0


class Mixup:
    """Apply networks to views of a batch, each mixed with another of its rows.

    Without views there is one, the batch itself. Where rows cannot be mixed, because
    parts of them are whole numbers (words, categories) or no rows of one tensor, they
    are left as they are, and their weight is 1.

    Parameters
    ----------
    augment : Augment or None
        Makes the views, of which there are two.
    """

    def __init__(self, augment: Augment | None) -> None:
        self.n_views = 1 if augment is None else 2
        self.augment = augment

    def drawn_weight(self) -> float:
        """Return the weight of rows themselves, at least one half."""
        weight = torch.distributions.Beta(_ALPHA, _ALPHA).sample().item()
        return max(weight, 1 - weight)

    def views(self, features: Any) -> Any:
        """Return the views of features, one after the other, as one batch."""
        if self.augment is None:
            return features
        several = [self.augment(features) for _ in range(self.n_views)]
        return join_parts(torch.cat, several)

    def kept_views(self) -> Callable[[Any], Any]:
        """Return a function that makes views once, and then returns copies of them."""
        made: list[Any] = []

        def views(features: Any) -> Any:
            if not made:
                made.append(self.views(features))
            return map_parts(copied, made[0])  # modules may work in place

        return views

    def outputs(
        self,
        view: View,
        partners: Tensor,
        views: Callable[[Any], Any] | None = None,
    ) -> tuple[Tensor, float]:
        """Return the logits of mixed rows, and the weight of rows themselves.

        Parameters
        ----------
        view : callable
            That of the batch.
        partners : Tensor of shape (n_views * b,)
            With which row each is mixed; those of the second view follow the first.
        views : callable, default=None
            Maps features to their views, if these are not to be made anew.

        Returns
        -------
        logits : Tensor of shape (k, n_views * b, n_classes)
            Of the mixed rows, with gradients.
        weight : float
            The mixed target is ``weight * own + (1 - weight) * that of the partner``.
        """
        weight = self.drawn_weight()

        def mixed(features: Any) -> Any:
            nonlocal weight
            joined = (views or self.views)(features)
            if not can_mix(joined, len(partners)):
                weight = 1.0
                return joined
            return map_parts(lambda part: part[partners].lerp_(part, weight), joined)

        return view(mixed), weight


def can_mix(features: Any, n_rows: int) -> bool:
    """Return whether all parts of features are rows of numbers that are not whole."""
    return all(
        isinstance(part, Tensor)
        and part.is_floating_point()
        and part.layout is torch.strided
        and part.shape[:1] == (n_rows,)
        for part in parts_of(features)
    )


def drawn_partners(is_member: Tensor) -> Tensor:
    """Return the rows in random order, members in the places of members.

    Parameters
    ----------
    is_member : Tensor of shape (n_rows,), dtype=bool
        Rows that are mixed with each other; the others are mixed among themselves.
    """
    # Drawn on the CPU, to be the same on all devices.
    drawn = on_device(torch.rand(len(is_member)), is_member.device)
    places = is_member.argsort(stable=True)
    rows = (drawn + is_member).argsort()
    return torch.empty_like(places).index_copy_(0, places, rows)
