"""
Choose q by a grid search
=========================

``q`` is the number of latest predictions that vote on a label. A search over it must
not be scored on noisy labels; :class:`~skpresto.noise.NoisyTargetClassifier` adds noise
to the training folds only.
"""

# %%
# If true labels are at hand, as in an experiment, noise is injected where it belongs:
# ``fit`` sees noisy labels, ``score`` sees clean ones.

import warnings

from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV

from skpresto import PrestoppingClassifier
from skpresto.exceptions import SafeSetWarning
from skpresto.noise import NoisyTargetClassifier, PairNoise

# With q = 1, fit warns that classes lose their labels; that is the point here.
warnings.simplefilter("ignore", SafeSetWarning)

X, y = load_digits(return_X_y=True)
model = NoisyTargetClassifier(
    PrestoppingClassifier(max_epochs=30, random_state=0),
    PairNoise(rate=0.35, random_state=0),
)
grid = {"classifier__q": [1, 3, 5, 10, 20]}
search = GridSearchCV(model, grid, cv=3).fit(X / 16, y)

from skpresto.plots import HistoryLengthDisplay

display = HistoryLengthDisplay.from_search(search)
display.figure_.set_size_inches(6, 3.8)
_ = display.ax_.set_title("Error on clean folds, 35 % pair noise in training")

# %%
# A single prediction (q = 1) is not enough; beyond five, little changes.
#
# With labels that *are* noisy, the held-out folds of a search are noisy as well. The
# best reachable score then is one minus the noise rate. If mistakes do not depend on
# the model, the order of the models is often kept, but differences are smaller and
# more uncertain:

y_noisy = PairNoise(rate=0.35, random_state=1).fit_transform(y)
noisy_search = GridSearchCV(
    PrestoppingClassifier(max_epochs=30, random_state=0),
    {"q": [1, 5, 10]},
    cv=3,
).fit(X / 16, y_noisy)

import pandas as pd

columns = ["param_q", "mean_test_score", "std_test_score"]
print(pd.DataFrame(noisy_search.cv_results_)[columns].round(3).to_string(index=False))

# %%
# A few hundred rows with correct labels are worth more than a search on noisy ones:
# score on them with ``PredefinedSplit``, or pass them to ``fit`` as ``X_val`` and
# ``y_val``. See :doc:`/pitfalls`.
