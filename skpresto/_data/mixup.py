"""Mixup: each row of a batch is mixed with another one, and so are their targets."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from skpresto._data.augment import Augment
from skpresto._data.batch import View
from skpresto._data.features import copied, join_parts, map_parts, on_device, parts_of

#: Weights are drawn from the distribution Beta(alpha, alpha), as DivideMix and SSR do.
_ALPHA = 4.0


class Mixed(NamedTuple):
    """The outputs of networks for mixed rows.

    Parameters
    ----------
    logits : Tensor of shape (k, m, n_classes)
        Of m mixed rows, with gradients.
    partners : Tensor of shape (m,)
        With which row each is mixed.
    weight : float
        Of the row itself; that of its partner is one minus this.
    """

    logits: Tensor
    partners: Tensor
    weight: float

    def mean(self, own: Tensor, other: Tensor) -> Tensor:
        """Return the mean of what belongs to rows, and to their partners."""
        return torch.lerp(other, own, self.weight)

    def losses(
        self,
        losses_of: Callable[[Tensor, Tensor], Tensor],
        targets: Tensor,
        scale: Tensor | float = 1.0,
    ) -> Tensor:
        """Return the losses of mixed targets, of shape (k, m).

        A mixed row has the losses of two targets. Each of them is added to the sample
        that the target is of, since it is to be multiplied by the weight of that.

        Parameters
        ----------
        losses_of : callable
            Maps logits and targets to one loss per row.
        targets : Tensor of shape (m,), (k, m) or (k, m, n_classes)
            Class numbers or probabilities of the rows before they are mixed.
        scale : Tensor of shape (k, m), default=1.0
            Factor of the losses of each mixed row.
        """
        shape = self.logits.shape[:2]
        axis = 0 if targets.dim() == 1 else 1
        of_partner = targets.index_select(axis, self.partners)
        own = losses_of(self.logits, targets).view(shape) * scale
        other = losses_of(self.logits, of_partner).view(shape) * scale
        other = torch.zeros_like(other).index_copy(1, self.partners, other)
        return self.mean(own, other)


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
    ) -> Mixed:
        """Return the outputs for mixed rows.

        Parameters
        ----------
        view : callable
            That of the batch.
        partners : Tensor of shape (n_views * b,)
            With which row each is mixed; those of the second view follow the first.
        views : callable, default=None
            Maps features to their views, if these are not to be made anew.
        """
        weight = self.drawn_weight()

        def mixed(features: Any) -> Any:
            nonlocal weight
            joined = (views or self.views)(features)
            if not can_mix(joined, len(partners)):
                weight = 1.0
                return joined
            return map_parts(lambda part: part[partners].lerp_(part, weight), joined)

        logits = view(mixed)
        return Mixed(logits, partners, weight)


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
