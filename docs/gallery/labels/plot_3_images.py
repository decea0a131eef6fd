"""
Find wrong labels in images
===========================

Digits that look alike were mixed up in a tenth of the labels. A small convolutional
network finds them, and shows what it would call them.
"""

# %%
# Images are arrays of shape (n_samples, channels, height, width); the built-in network
# for them is :class:`~skpresto.modules.SmallCNN`. One image in ten gets the label of
# its lookalike: 1 and 7, 3 and 8, 4 and 9, 5 and 6.

from sklearn.datasets import load_digits

from skpresto.noise import PairNoise

digits = load_digits()
images = digits.images[:, None] / 16
lookalike = {1: 7, 7: 1, 3: 8, 8: 3, 4: 9, 9: 4, 5: 6, 6: 5}
noise = PairNoise(rate=0.125, mapping=lookalike, exact=True, random_state=0)
labels = noise.fit_transform(digits.target)
print(images.shape, f"{noise.realized_rate_:.1%} of the labels are wrong")

# %%
# One run of Prestopping, with a network of few channels.

from skpresto import PrestoppingClassifier
from skpresto.audit import LabelReport

clf = PrestoppingClassifier(module__widths=(16, 32), max_epochs=30, random_state=0)
report = LabelReport.from_estimator(clf.fit(images, labels), images, labels)
print(report)

# %%
# The 24 images with the lowest label quality, with the given and the suggested label.

import matplotlib.pyplot as plt

figure, axes = plt.subplots(3, 8, figsize=(9, 4.2), layout="constrained")
for ax, (row, suspect) in zip(axes.flat, report.suspects(24).iterrows(), strict=True):
    is_wrong = noise.flipped_mask_[row]
    ax.imshow(images[row, 0], cmap="gray_r")
    color = "black" if is_wrong else "firebrick"
    ax.set_title(f"{suspect.given} → {suspect.suggested}", color=color)
    ax.set_axis_off()
n_wrong = noise.flipped_mask_[report.suspects(24).index].sum()
figure.suptitle(f"given label → suggestion: {n_wrong} of 24 are wrong (others in red)")

# %%
# ``report.to_html("report.html")`` writes a page on which the images are reviewed by
# keyboard; :doc:`the first page </index>` has one embedded. For a folder of image
# files, use ``skpresto audit folder/``.
