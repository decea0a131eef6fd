"""Features of small images, learned from the images alone.

Networks that start from random weights learn little from a few thousand images. These
features, of A. Coates, A. Ng and H. Lee, "An analysis of single-layer networks in
unsupervised feature learning" (AISTATS 2011), need no labels: patches of the images are
whitened and clustered, and an image is described by how similar its patches are to the
cluster centers, summed over its quarters.
"""

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import MiniBatchKMeans
from sklearn.decomposition import PCA

Floats = NDArray[np.float32]

_PATCH = 6
_MOST_PATCHES = 60_000
_PATCHES_PER_IMAGE = 100
_N_CENTERS = 256
_N_DIMENSIONS = 256
#: Added to variances, so that flat patches and rare directions are not blown up.
_CONTRAST = 10 / 255**2
_WHITENING = 0.1
_N_AT_ONCE = 64


def patch_features(pixels: NDArray[np.uint8], seed: int) -> Floats:
    """Return features of images, with a variance of 1 on average.

    Parameters
    ----------
    pixels : array of shape (n_images, side, side, channels), dtype=uint8
        The images.
    seed : int
        Chooses the patches and starts the clustering.
    """
    rng = np.random.RandomState(seed)
    mean, whitening, centers = _dictionary(pixels, rng)
    parts = [
        _activations(pixels[i : i + _N_AT_ONCE], mean, whitening, centers)
        for i in range(0, len(pixels), _N_AT_ONCE)
    ]
    sums = np.concatenate(parts)
    deviation = sums.std(axis=0)
    scaled = (sums - sums.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    n_dimensions = min(_N_DIMENSIONS, *scaled.shape)
    features = PCA(n_dimensions, random_state=seed).fit_transform(scaled)
    # Components keep their relative variances: the last ones are mostly noise.
    return (features / (features.std() or 1.0)).astype(np.float32)


def _dictionary(
    pixels: NDArray[np.uint8], rng: np.random.RandomState
) -> tuple[Floats, Floats, Floats]:
    """Return mean and whitening matrix of random patches, and cluster centers."""
    n_places = pixels.shape[1] - _PATCH + 1
    n_patches = min(_PATCHES_PER_IMAGE * len(pixels), _MOST_PATCHES)
    image = rng.randint(len(pixels), size=n_patches)
    top, left = rng.randint(n_places, size=(2, n_patches))
    windows = np.lib.stride_tricks.sliding_window_view(
        pixels, (_PATCH, _PATCH), axis=(1, 2)
    )
    patches = _normalized(windows[image, top, left].reshape(n_patches, -1))
    mean = patches.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(patches, rowvar=False))
    scale = 1 / np.sqrt(np.maximum(values, 0) + _WHITENING)
    whitening = ((vectors * scale) @ vectors.T).astype(np.float32)
    n_centers = min(_N_CENTERS, n_patches)
    clusters = MiniBatchKMeans(
        n_centers, batch_size=4096, n_init=1, max_iter=20, random_state=rng
    )
    clusters.fit((patches - mean) @ whitening)
    return mean, whitening, clusters.cluster_centers_.astype(np.float32)


def _activations(
    pixels: NDArray[np.uint8], mean: Floats, whitening: Floats, centers: Floats
) -> Floats:
    """Return how similar the patches of each quarter are to each center."""
    windows = np.lib.stride_tricks.sliding_window_view(
        pixels, (_PATCH, _PATCH), axis=(1, 2)
    )
    n_images, n_places = windows.shape[:2]
    flat = windows.reshape(n_images * n_places**2, -1)
    patches = (_normalized(flat) - mean) @ whitening
    distance = -2 * patches @ centers.T
    distance += np.einsum("ij,ij->i", patches, patches)[:, None]
    distance += np.einsum("ij,ij->i", centers, centers)
    np.sqrt(np.maximum(distance, 0, out=distance), out=distance)
    similarity = distance.mean(axis=1, keepdims=True) - distance
    np.maximum(similarity, 0, out=similarity)
    grid = similarity.reshape(n_images, n_places, n_places, -1)
    middle = n_places // 2
    halves = (slice(None, middle), slice(middle, None))
    quarters = [grid[:, a, b].sum(axis=(1, 2)) for a in halves for b in halves]
    return np.concatenate(quarters, axis=1)


def _normalized(patches: NDArray[np.uint8]) -> Floats:
    """Return patches with equal brightness and contrast."""
    values = patches.astype(np.float32)
    values /= 255
    values -= values.mean(axis=1, keepdims=True)
    values /= np.sqrt(values.var(axis=1, keepdims=True) + _CONTRAST)
    return values
