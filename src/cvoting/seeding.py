"""The only source of randomness: one independent generator per purpose and key.

A generator is a function of its key alone, never of what was drawn before, so that step 17 of a training, puzzle 3 of a
set or candidate 5 of a puzzle can be drawn again by itself, in any order, in any process and on any device.
"""

import hashlib
import operator
from typing import SupportsIndex

import numpy as np


def generator(purpose: str, *key: SupportsIndex | str, counter: SupportsIndex = 0) -> np.random.Generator:
    """The generator of (purpose, key); Philox, keyed by a 128-bit hash of them.

    Args:
        purpose: what is drawn, e.g. "initial state"; generators of different purposes are independent.
        key: what identifies the draw: seeds, names, puzzle hashes.
        counter: numbers the draws of one key (candidates, steps), below 2**64: 2**192 numbers lie between two of them,
            so they never overlap.

    Raises:
        TypeError: for a key that is neither text nor a whole number.
        OverflowError: for a counter that is negative or too large.
    """
    # A whole number is the same key whatever its type: a seed read from an array, or from a parameter.
    parts = [f"str:{k}" if isinstance(k, str) else f"int:{operator.index(k):d}" for k in key]
    digest = hashlib.blake2b("\0".join([purpose, *parts]).encode(), digest_size=16).digest()
    philox_key = np.frombuffer(digest, dtype="<u8").astype(np.uint64)
    # As an array of its own type: numpy would make floats of a list that holds a number of 2**63 or more.
    philox_counter = np.array([0, 0, 0, operator.index(counter)], dtype=np.uint64)
    return np.random.Generator(np.random.Philox(key=philox_key, counter=philox_counter))
