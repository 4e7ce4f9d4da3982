"""Packs a table into four bits a value: groups of 32 share a scale of 16 bits.

A row of d values is its d / 32 scales (IEEE half precision, little endian), then 16 bytes a group: byte j holds value j of
the group in its low four bits and value j + 16 in its high ones. A value is (bits - 8) * scale.
"""

import numpy as np

GROUP = 32
# Clipping the largest value a little costs less than the coarser steps that it would need.
SHRINKS = np.linspace(0.6, 1.05, 46)


def pack(table: np.ndarray) -> np.ndarray:
    """Packs the rows of `table` into bytes."""
    rows, width = table.shape
    groups = table.reshape(rows, width // GROUP, GROUP).astype(np.float32)
    scales = best_scales(groups)
    levels = to_levels(groups, scales.astype(np.float32)) + 8
    low, high = levels[..., : GROUP // 2], levels[..., GROUP // 2 :]
    nibbles = (low | high << 4).astype(np.uint8).reshape(rows, width // 2)
    return np.concatenate([scales.view(np.uint8).reshape(rows, -1), nibbles], axis=1)


def unpack(packed: np.ndarray, width: int) -> np.ndarray:
    """Returns the table that the bytes encode."""
    rows, groups = len(packed), width // GROUP
    scales = packed[:, : 2 * groups].copy().view("<f2").astype(np.float32)
    nibbles = packed[:, 2 * groups :].reshape(rows, groups, GROUP // 2)
    levels = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).astype(np.float32) - 8
    return (levels * scales[..., None]).reshape(rows, width)


def best_scales(groups: np.ndarray) -> np.ndarray:
    """Returns the scale of each group with the smallest squared error."""
    largest = np.abs(groups).max(-1) / 7
    best = np.full(largest.shape, np.inf, np.float32)
    scales = np.zeros(largest.shape, "<f2")
    for shrink in SHRINKS:
        tried = (largest * shrink).astype("<f2")
        scale = tried.astype(np.float32)
        error = np.square(to_levels(groups, scale) * scale[..., None] - groups).sum(-1)
        better = error < best
        best[better] = error[better]
        scales[better] = tried[better]
    return scales


def to_levels(groups: np.ndarray, scales: np.ndarray) -> np.ndarray:
    safe = np.where(scales > 0, scales, 1)[..., None]
    return np.clip(np.round(groups / safe), -8, 7).astype(np.int8)
