"""Checks of the parameters of module, criterion and optimizer before training."""

import pytest
from sklearn.base import clone

from skpresto import DefaultClassifier
from skpresto._classifier.params import check_part_params, check_required_params


class Part:
    def __init__(self, width, depth=2):
        pass


def test_a_part_without_a_signature_is_left_to_raise_by_itself():
    clf = DefaultClassifier()
    check_part_params(clf, "module", dict, {"anything": 1})
    check_required_params(clf, "module", dict, {})


def test_unknown_and_missing_parameters_of_a_part_are_named():
    clf = DefaultClassifier()
    with pytest.raises(ValueError, match="module__widht.*did you mean.*module__width"):
        check_part_params(clf, "module", Part, {"widht": 1})
    with pytest.raises(TypeError, match="module__width, without which Part"):
        check_required_params(clf, "module", Part, {})
    check_part_params(clf, "module", Part, {"width": 1})
    check_required_params(clf, "module", Part, {"width": 1})


class WithFurther(DefaultClassifier):
    """A subclass as scikit-learn forbids it: parameters are not in its signature."""

    def __init__(self, further=1, **others):
        super().__init__(**others)
        self.further = further


def test_what_clone_would_lose_is_refused_by_the_constructor():
    message = "WithFurther was given lr, max_epochs, which its constructor takes by "
    with pytest.raises(TypeError, match=message):
        WithFurther(further=2, lr=0.2, max_epochs=3)
    copy = clone(WithFurther(further=2, module__hidden=(3,)))
    assert copy.get_params() == {"further": 2, "module__hidden": (3,)}
