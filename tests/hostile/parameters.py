"""Parameters of the classifiers of every wrong type and range."""

import numpy as np
import torch
from torch import nn

from skpresto.stopping import AgreementStop, HoldoutStop, NoiseRateStop, ValidationStop
from tests.hostile.inputs import N_COLUMNS, Wrapped
from tests.hostile.outcomes import Case, Refused, Works, case

#: Values that are no number in any range, by name.
NO_NUMBERS = {
    "None": None,
    "text": "1",
    "bytes": b"1",
    "a list": [1],
    "a dict": {},
    "an array": np.ones(2),
    "NaN": float("nan"),
    "infinity": float("inf"),
    "complex": 1j,
    "a function": len,
    "a class": int,
    "an object": Wrapped(),
}

#: For each numeric parameter: wrong values beyond those above, values that are not
#: wrong among those above, and good values of unusual types.
NUMBERS = {
    "lr": ([0, -0.1, -np.inf], [], [np.float32(0.1), np.float64(0.1), 1]),
    "max_epochs": ([0, -1, 1.5, 1.0], [], [np.int8(1), np.uint64(1)]),
    "batch_size": ([0, -2, 2.5], [], [np.int32(8), 10**6]),
    "q": ([0, -1, 1.5], [], [np.int64(2), 10**9]),
    "n_jobs": ([0, 1.5], ["None"], [np.int64(1), 10**5]),
    "random_state": ([-1, 1.5], ["None"], [np.uint32(7), np.random.RandomState(0)]),
    "verbose": ([-1, 0.5], [], [False, np.int8(0)]),
}
FURTHER = {
    "noise_rate": ([-0.1, 1.0, 2], ["None"], [np.float32(0.2), 0]),
    "warm_up": ([-1, 1.0, 5], [], [0, 0.0]),
    "epsilon": ([-0.1, 1.5], [], [0, 1, np.float32(0.1)]),
    "restarts": ([-1, 0.5], [], [np.int8(0)]),
    "smoothness": ([-0.1], [], [np.float32(0.1)]),
    "cv": ([0, 1, -2, 2.5], [], [np.int64(2)]),
    "ramp_epochs": ([-1], [], []),
    "exponent": ([-1, 0], [], []),
    "fold_epochs": ([-1, 0, 0.0, 1.5], [], [0.5, 1.0, np.int64(2)]),
    "regularization": ([-0.1], [], [0, np.float32(1)]),
    "beta": ([-0.1, 1.0], [], [0]),
    "co_regularization": ([-0.1, 1.1], [], [0, 1]),
    "percentile": ([-1, 101], [], [0, 100, np.int8(60)]),
    "decay": ([-0.1, 1.0], [], [0]),
    "dropout": ([-0.1, 1.0], [], [0]),
    "warm_up_dropout": ([-0.1, 1.0], [], [0]),
    "rounds": ([-1, 0, 1.5], [], [np.int8(1)]),
    "round_epochs": ([-1, 0, 1.0, 1.5], [], [0.5, np.int64(3)]),
    "window": ([-1, 1, 2.5], [], [np.int8(2)]),
    "n_neighbors": ([1, 128, 2.5], [], [np.int8(2)]),
    "outlier_fraction": ([-0.1, 1.0], [], [0, np.float32(0.1)]),
}


def number_cases(table: dict) -> list[Case]:
    """Return a case for each value of each numeric parameter."""
    cases = []
    for name, (wrong, allowed, good) in table.items():
        refused = rf"\b{name}\b"
        values = {k: v for k, v in NO_NUMBERS.items() if k not in allowed}
        values |= {repr(value): value for value in wrong}
        cases += [
            case(f"{name}={k}", refused, params={name: v}) for k, v in values.items()
        ]
        cases += [
            case(f"{name} of type {type(v).__name__} {i}", Works(), params={name: v})
            for i, v in enumerate(good)
        ]
    return cases


class WrongWidth(nn.Module):
    """Has a layer for five columns."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 2)

    def forward(self, X):
        return self.layer(X)


class Returns(nn.Module):
    """Returns what a function makes of logits."""

    def __init__(self, change):
        super().__init__()
        self.layer = nn.Linear(N_COLUMNS, 2)
        self.change = change

    def forward(self, X):
        return self.change(self.layer(X))


class Raises(nn.Module):
    """Has an error in forward."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(N_COLUMNS, 2)

    def forward(self, X):
        return self.missing(X)


class NeedsArgument(nn.Module):
    """Cannot be made without an argument."""

    def __init__(self, depth):
        super().__init__()


class NoForward(nn.Module):
    """Has a parameter but nothing to do."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(N_COLUMNS, 2)


class WithoutParameters(nn.Module):
    """Returns the first two columns."""

    def forward(self, X):
        return X[:, :2]


LINEAR = nn.Linear(N_COLUMNS, 2)
MODULE = "[Mm]odule"
QUOTED_FORWARD = Refused(
    r"module could not be applied to a batch of shape", quotes=True
)
QUOTED_MODULE = Refused(r"module could not be built with .*hidden", quotes=True)
QUOTED_OPTIMIZER = Refused(r"optimizer could not be built: \w+Error", quotes=True)

PART_CASES = [
    case("module a string", MODULE, params={"module": "mlp"}),
    case("module a number", MODULE, params={"module": 3}),
    case("module a list", MODULE, params={"module": [LINEAR]}),
    case("module a function", MODULE, params={"module": lambda: None}),
    case("module another class", MODULE, params={"module": dict}),
    case("module an optimizer", MODULE, params={"module": torch.optim.SGD}),
    case("module of another width", QUOTED_FORWARD, params={"module": WrongWidth}),
    case("module needs an argument", "depth", params={"module": NeedsArgument}),
    case("module without forward", MODULE, params={"module": NoForward}),
    case(
        "module without parameters", "parameter", params={"module": WithoutParameters}
    ),
    case("module raises", QUOTED_FORWARD, params={"module": Raises}),
    case("too few logits", MODULE, params={"module": nn.Linear(N_COLUMNS, 1)}),
    case("too many logits", MODULE, params={"module": nn.Linear(N_COLUMNS, 5)}),
    case(
        "logits of three dimensions",
        MODULE,
        params={"module": Returns(lambda z: z[:, :, None])},
    ),
    case("flat logits", MODULE, params={"module": Returns(lambda z: z[:, 0])}),
    case("one row of logits", MODULE, params={"module": Returns(lambda z: z[:1])}),
    case("a number", MODULE, params={"module": Returns(lambda z: z.sum())}),
    case("None", MODULE, params={"module": Returns(lambda z: None)}),
    case("a string", MODULE, params={"module": Returns(lambda z: "logits")}),
    case("a tuple of strings", MODULE, params={"module": Returns(lambda z: ("a",))}),
    case("an array", MODULE, params={"module": Returns(lambda z: z.detach().numpy())}),
    case("integers", MODULE, params={"module": Returns(lambda z: z.long())}),
    case("complex logits", MODULE, params={"module": Returns(lambda z: z * 1j)}),
    case("NaN", "NaN|nan|finite", params={"module": Returns(lambda z: z * np.nan)}),
    case(
        "infinity", "inf|nan|finite", params={"module": Returns(lambda z: z * np.inf)}
    ),
    case("detached", "grad", params={"module": Returns(lambda z: z.detach())}),
    case(
        "module params of an instance",
        "instance as module",
        params={"module": LINEAR, "module__bias": False},
    ),
    case("unknown module parameter", "module__hiden", params={"module__hiden": (3,)}),
    case(
        "module parameter of a wrong type",
        QUOTED_MODULE,
        params={"module__hidden": "wide"},
    ),
    case(
        "module parameter out of range", QUOTED_FORWARD, params={"module__hidden": (0,)}
    ),
    case("optimizer a string", "optimizer", params={"optimizer": "sgd"}),
    case("optimizer None", "optimizer", params={"optimizer": None}),
    case(
        "optimizer an instance",
        "optimizer",
        params={"optimizer": torch.optim.SGD(LINEAR.parameters(), lr=0.1)},
    ),
    case("optimizer a function", "optimizer", params={"optimizer": lambda p, lr: None}),
    case("optimizer another class", QUOTED_OPTIMIZER, params={"optimizer": nn.Linear}),
    case(
        "unknown optimizer parameter",
        "optimizer__momentun",
        params={"optimizer__momentun": 0.9},
    ),
    case(
        "optimizer parameter out of range",
        "weight_decay",
        params={"optimizer__weight_decay": -1},
    ),
    case(
        "optimizer parameter of a wrong type",
        QUOTED_OPTIMIZER,
        params={"optimizer__momentum": "fast"},
    ),
    case("criterion a string", "criterion", params={"criterion": "ce"}),
    case("criterion None", "criterion", params={"criterion": None}),
    case("criterion a number", "criterion", params={"criterion": 1}),
    case("criterion a function", "criterion", params={"criterion": lambda a, b: 0}),
    case("criterion another class", "criterion", params={"criterion": dict}),
    case("criterion of regression", "criterion", params={"criterion": nn.MSELoss}),
    case(
        "criterion of two classes",
        "criterion",
        params={"criterion": nn.BCEWithLogitsLoss},
    ),
    case(
        "unknown criterion parameter",
        "criterion__weigth",
        params={"criterion__weigth": None},
    ),
    case(
        "criterion weights of wrong length",
        "criterion|weight",
        params={"criterion__weight": torch.ones(7)},
    ),
    case("device unknown", "device", params={"device": "gpu"}),
    case("device a number", "device", params={"device": 2.5}),
    case("device a list", "device", params={"device": ["cpu"]}),
    case("device absent", "device|cuda|CUDA", params={"device": "cuda:7"}),
    case("callbacks a string", "callbacks", params={"callbacks": "print"}),
    case("callbacks a number", "callbacks", params={"callbacks": 3}),
    case("callbacks of strings", "callback", params={"callbacks": ["print"]}),
    case("callbacks of None", "callback", params={"callbacks": [None]}),
    case("callbacks of other classes", "callback", params={"callbacks": [dict]}),
    case(
        "callbacks of equal names",
        "callback|unique|name",
        params={"callbacks": [("a", None), ("a", None)]},
    ),
    case(
        "unknown callback parameter",
        "callbacks__print__sink|callback",
        params={"callbacks__print__sink": None},
    ),
    case(
        "unknown iterator parameter",
        "iterator_train__batchsize",
        params={"iterator_train__batchsize": 3},
    ),
    case(
        "iterator batch size 0", "batch_size", params={"iterator_train__batch_size": 0}
    ),
    case(
        "iterator batch size text",
        "batch_size",
        params={"iterator_train__batch_size": "8"},
    ),
    case(
        "prediction batch size 0",
        "batch_size",
        params={"iterator_valid__batch_size": 0},
    ),
    case(
        "iterator workers -1", "num_workers", params={"iterator_train__num_workers": -1}
    ),
    case("class_weight a number", "class_weight", params={"class_weight": 3}),
    case("class_weight a word", "class_weight", params={"class_weight": "even"}),
    case(
        "class_weight of other classes",
        "class_weight|class",
        params={"class_weight": {7: 1.0}},
    ),
    case(
        "class_weight negative", "class_weight|class", params={"class_weight": {0: -1}}
    ),
    case(
        "class_weight NaN",
        "class_weight|class",
        params={"class_weight": {0: float("nan")}},
    ),
    case("class_weight text", "class_weight|class", params={"class_weight": {0: "a"}}),
    case(
        "unknown parameter", "unexpected argument 'max_epoch'", params={"max_epoch": 3}
    ),
    case("unknown prefix", "unexpected argument", params={"modul__width": 3}),
]

STOP_CASES = [
    case("stop a string", "'stop' parameter", params={"stop": "validation"}),
    case("stop a class", "'stop' parameter", params={"stop": AgreementStop}),
    case("stop a number", "'stop' parameter", params={"stop": 3}),
    case(
        "stop without its data",
        "needs X_val and y_val",
        params={"stop": ValidationStop()},
    ),
    case("stop with a rate of 2", "noise_rate", params={"stop": NoiseRateStop(2)}),
    case(
        "stop with a rate of NaN",
        "noise_rate",
        params={"stop": NoiseRateStop(float("nan"))},
    ),
    case("stop with a fraction of 0", "fraction", params={"stop": HoldoutStop(0.0)}),
    case("stop with a fraction of 1", "fraction", params={"stop": HoldoutStop(1.0)}),
]
