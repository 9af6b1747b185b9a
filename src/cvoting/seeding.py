"""The only source of randomness: one independent generator per purpose and key.

A generator is a function of its key alone, never of what was drawn before, so that step 17 of a training, puzzle 3 of a
set or candidate 5 of a puzzle can be drawn again by itself, in any order, in any process and on any device.
"""

import hashlib

import numpy as np


def generator(purpose: str, *key: int | str, counter: int = 0) -> np.random.Generator:
    """The generator of (purpose, key); Philox, keyed by a 128-bit hash of them.

    Args:
        purpose: what is drawn, e.g. "initial state"; generators of different purposes are independent.
        key: what identifies the draw: seeds, names, puzzle hashes.
        counter: numbers the draws of one key (candidates, steps): 2**192 numbers lie between two of them, so they
            never overlap, and counting is cheaper than hashing.
    """
    text = "\0".join([purpose, *(f"{type(k).__name__}:{k}" for k in key)])
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    philox_key = np.frombuffer(digest, dtype="<u8").astype(np.uint64)
    return np.random.Generator(np.random.Philox(key=philox_key, counter=[0, 0, 0, counter]))
