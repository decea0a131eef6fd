"""Parameters of the classifiers of every wrong type and range."""

import numpy as np
import torch
from skorch.callbacks import EarlyStopping, EpochTimer
from torch import nn

from skpresto.stopping import (
    AgreementStop,
    HoldoutStop,
    NoiseRateStop,
    OracleStop,
    ValidationStop,
)
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
    "warm_up": ([-1, 1.0, 1.5, 0.99, 5], [], [0, 0.0]),
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
        refused = f"'{name}' parameter of .* must be .* Got |{name}=.*(up|split|'1')"
        values = {k: v for k, v in NO_NUMBERS.items() if k not in allowed}
        values |= {repr(value): value for value in wrong}
        cases += [case(f"{name}={k}", refused, **{name: v}) for k, v in values.items()]
        cases += [
            case(f"{name} of type {type(v).__name__} {i}", Works(), **{name: v})
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


class MeanLoss(nn.Module):
    """Returns one number."""

    def forward(self, logits, labels):
        return logits.mean()


LINEAR = nn.Linear(N_COLUMNS, 2)
MODULE = "[Mm]odule"
FORWARD = Refused("module could not be applied to a batch of shape", quotes=True)
HIDDEN = Refused("module could not be built with .*hidden", quotes=True)
OPTIMIZER = Refused(r"optimizer could not be built: \w+Error", quotes=True)
CRITERION = "needs criterion to be an nn.Module class, such as .*got "
LOG = "NLLLoss needs a module that returns log-prob"
LOSSES = "losses from logits .* raised|one loss per sample"
DEVICE = "device to be a name that torch knows.*'cuda'"
CALLBACKS = "callbacks to be a list.*got "
CALLBACK = "skorch callbacks, but .* is none"
ALL_ROWS = "predicts every row .*iterator_valid__"
RATE = "'noise_rate' parameter of NoiseRateStop"
WEIGHTS = "class_weight to map classes to finite numbers of at least 0, got "

PART_CASES = [
    case("module a string", "module to be an nn.Module class.*got 'mlp'", module="mlp"),
    case("module a number", MODULE, module=3),
    case("module a list", MODULE, module=[LINEAR]),
    case("module a function", MODULE, module=lambda: None),
    case("module another class", MODULE, module=dict),
    case("module an optimizer", MODULE, module=torch.optim.SGD),
    case("module of another width", FORWARD, module=WrongWidth),
    case("module needs an argument", "depth", module=NeedsArgument),
    case("module without forward", MODULE, module=NoForward),
    case("module without parameters", "parameter", module=WithoutParameters),
    case("module raises", FORWARD, module=Raises),
    case("too few logits", MODULE, module=nn.Linear(N_COLUMNS, 1)),
    case(
        "too many logits",
        r"each of the 2 classes.*shape \(2, 2\), got \(2, 5\).*n_classes",
        module=nn.Linear(N_COLUMNS, 5),
    ),
    case("3-d logits", MODULE, module=Returns(lambda z: z[:, :, None])),
    case("flat logits", MODULE, module=Returns(lambda z: z[:, 0])),
    case("one row of logits", MODULE, module=Returns(lambda z: z[:1])),
    case("a number", MODULE, module=Returns(lambda z: z.sum())),
    case("None", MODULE, module=Returns(lambda z: None)),
    case("a string", MODULE, module=Returns(lambda z: "logits")),
    case("a dict", "one logit for each.*got dict", module=Returns(lambda z: {"z": z})),
    case("a tuple of strings", MODULE, module=Returns(lambda z: ("a",))),
    case("an array", MODULE, module=Returns(lambda z: z.detach().numpy())),
    case("integers", MODULE, module=Returns(lambda z: z.long())),
    case("complex logits", MODULE, module=Returns(lambda z: z * 1j)),
    case(
        "NaN",
        r"diverged.*(nan|not finite).*lr=0\.3",
        module=Returns(lambda z: z * np.nan),
        lr=0.3,
    ),
    case("infinity", "inf|nan|finite", module=Returns(lambda z: z * np.inf)),
    case("detached", "grad", module=Returns(lambda z: z.detach())),
    case(
        "module parameter of an instance",
        "instance as module, so module__bias",
        module=LINEAR,
        module__bias=False,
    ),
    case(
        "unknown module parameter",
        "got module__hiden, which .*mean 'module__hidden'",
        module__hiden=(3,),
    ),
    case("module parameter of a wrong type", HIDDEN, module__hidden="wide"),
    case("module parameter out of range", FORWARD, module__hidden=(0,)),
    case("optimizer a string", "optimizer to be a class.*got 'SGD'", optimizer="SGD"),
    case("optimizer None", "optimizer to be a class", optimizer=None),
    case(
        "optimizer an instance",
        "optimizer",
        optimizer=torch.optim.SGD([nn.Parameter(torch.zeros(1))]),
    ),
    case("optimizer a function", "optimizer", optimizer=lambda p, lr: None),
    case("optimizer another class", OPTIMIZER, optimizer=nn.Linear),
    case("LBFGS", "cannot train with LBFGS.*Use SGD", optimizer=torch.optim.LBFGS),
    case(
        "unknown optimizer parameter",
        "got optimizer__momentun, which .*mean 'optimizer__momentum'",
        optimizer__momentun=0.9,
    ),
    case("optimizer parameter negative", "weight_decay", optimizer__weight_decay=-1),
    case("optimizer parameter a string", OPTIMIZER, optimizer__momentum="fast"),
    case("criterion a string", f"{CRITERION}'CrossEnt", criterion="CrossEntropyLoss"),
    case("criterion None", f"{CRITERION}None", criterion=None),
    case("criterion a number", "criterion", criterion=1),
    case("criterion a function", "criterion", criterion=lambda a, b: 0),
    case(
        "criterion a function of torch",
        "needs criterion__input and criterion",
        criterion=nn.functional.cross_entropy,
    ),
    case("criterion another class", "criterion", criterion=dict),
    case("criterion of regression", "criterion", criterion=nn.MSELoss),
    case("criterion of a mean", "one loss per.*MeanLoss returned", criterion=MeanLoss),
    case("criterion of two classes", LOSSES, criterion=nn.BCEWithLogitsLoss),
    case("criterion of distributions", LOSSES, criterion=nn.KLDivLoss),
    case(
        "criterion of probabilities",
        r"shape \(2, 2\) and class numbers of shape \(2,\)",
        criterion=nn.BCELoss(),
    ),
    case("criterion of log-probabilities", LOG, criterion=nn.NLLLoss),
    case(
        "and of probabilities",
        LOG,
        criterion=nn.NLLLoss,
        module=Returns(lambda z: z.softmax(1)),
    ),
    case(
        "unknown criterion parameter",
        "got criterion__label_smooth, which .*mean 'criterion__label_smoothing'",
        criterion__label_smooth=0.1,
    ),
    case(
        "criterion parameter of an instance",
        "instance as criterion, so criterion__label",
        criterion=nn.CrossEntropyLoss(),
        criterion__label_smoothing=0.1,
    ),
    case("criterion weights", "criterion|weight", criterion__weight=torch.ones(7)),
    case("device unknown", DEVICE, device="gpu"),
    case("device empty", DEVICE, device=""),
    case("device None", DEVICE, device=None),
    case("device a number", DEVICE, device=1.5),
    case("device a list", "device", device=["cpu"]),
    case("device without numbers", DEVICE, device="meta"),
    case("device absent", "device|cuda|CUDA", device="cuda:7"),
    case("callbacks a string", f"{CALLBACKS}'disable'", callbacks="disable"),
    case("callbacks a callback", CALLBACKS, callbacks=EpochTimer()),
    case("callbacks a number", CALLBACKS, callbacks=3),
    case("callbacks of strings", "callback", callbacks=["print"]),
    case("callbacks of None", "callback", callbacks=[None]),
    case("callbacks of modules", "callbacks, but 'ReLU' is", callbacks=[nn.ReLU()]),
    case("callbacks of other classes", "callback", callbacks=[dict]),
    case(
        "callbacks of equal names", "callback|unique|name", callbacks=[("a", None)] * 2
    ),
    case(
        "early stopping",
        "EarlyS.*, which.*Choose a stop rule",
        callbacks=[EarlyStopping()],
    ),
    case("its class", "EarlyStopping, which ends", callbacks=[("stop", EarlyStopping)]),
    case(
        "unknown callback parameter",
        r"callbacks__timr__sink.*called \['timer'\]",
        callbacks=[("timer", EpochTimer())],
        callbacks__timr__sink=1,
    ),
    case(
        "misspelt iterator",
        "mean 'iterator_train__shuffle'",
        iterator_train__shufle=True,
    ),
    case("another", "mean 'iterator_valid__batch_size'", iterator_valid__batchsize=3),
    case("iterator batch size 0", "batch_size", iterator_train__batch_size=0),
    case("iterator batch size text", "batch_size", iterator_train__batch_size="8"),
    case("prediction batch size 0", "batch_size", iterator_valid__batch_size=0),
    case("iterator workers -1", "num_workers", iterator_train__num_workers=-1),
    case("predictions lost", f"{ALL_ROWS}drop", iterator_valid__drop_last=True),
    case("predictions shuffled", f"{ALL_ROWS}shuf", iterator_valid__shuffle=True),
    case("predictions sampled", f"{ALL_ROWS}samp", iterator_valid__sampler=range(10)),
    case(
        "a batch sampler", f"{ALL_ROWS}batch_", iterator_valid__batch_sampler=[[0, 1]]
    ),
    case("class_weight a number", "'class_weight' parameter of", class_weight=3),
    case("class_weight a word", "'class_weight' parameter of", class_weight="even"),
    case("class_weight a list", "'class_weight' parameter of", class_weight=[1, 2]),
    case("class_weight of other classes", "a class_weight for", class_weight={7: 1.0}),
    case("class_weight negative", f"{WEIGHTS}-1", class_weight={0: -1}),
    case("class_weight NaN", f"{WEIGHTS}nan", class_weight={0: float("nan")}),
    case("class_weight text", f"{WEIGHTS}'a'", class_weight={0: "a"}),
]

STOP_CASES = [
    case("stop a string", "'stop' parameter", stop="validation"),
    case("stop a class", "'stop' parameter", stop=AgreementStop),
    case("stop a number", "'stop' parameter", stop=3),
    case(
        "stop without validation data",
        r"stop=ValidationStop\(\) needs X_val and y_val .*Pass fit\(X, y, ",
        stop=ValidationStop(),
    ),
    case(
        "stop without true labels",
        r"stop=OracleStop\(\) needs y_true .*Pass fit\(X, y, ",
        stop=OracleStop(),
    ),
    case("stop with a rate of 2", RATE, stop=NoiseRateStop(2)),
    case("stop with a rate of 1", RATE, stop=NoiseRateStop(1.0)),
    case("stop with a rate below 0", RATE, stop=NoiseRateStop(-0.1)),
    case("stop with a rate of NaN", RATE, stop=NoiseRateStop(float("nan"))),
    case("stop with a fraction of 0", "fraction", stop=HoldoutStop(0.0)),
    case("stop with a fraction of 1", "fraction", stop=HoldoutStop(1.0)),
]
