"""Where torch computes."""

import ctypes
import os
import platform
import sys

import torch

from cvoting.errors import CvotingError

#: Options of glibc's mallopt, and the largest values it takes.
MALLOPT = {"M_MMAP_THRESHOLD": (-3, 32 * 2**20), "M_TRIM_THRESHOLD": (-1, 2**31 - 1)}


def choose_device(threads: int) -> torch.device:
    """CUDA where present, else MPS, else the CPU with `threads` threads; said aloud.

    The environment variable CVOTING_DEVICE (cuda, mps, cpu) overrides the choice.  Of several processes that `torchrun`
    started on a machine with GPUs each takes its own.

    Raises:
        CvotingError: when that device is not here, or there are no threads.
    """
    if threads < 1:
        raise CvotingError(f"--threads {threads}: expected at least 1")
    found = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    named = os.environ.get("CVOTING_DEVICE", found)
    if named not in ("cpu", found):
        raise CvotingError(
            f"CVOTING_DEVICE = {named!r}: expected {' or '.join(sorted({'cpu', found}))}, which are here"
        )
    device = torch.device(named)
    torch.set_num_threads(threads)
    if device.type == "cpu":
        _keep_freed_memory()
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
    # TF32 rounds to 10 bits: it would change which candidate wins.
    torch.backends.cuda.matmul.allow_tf32 = False
    threads_text = f" ({threads} threads)" if device.type == "cpu" else ""
    print(f"device: {device}{threads_text}", file=sys.stderr, flush=True)
    return device


def _keep_freed_memory() -> None:
    """Where the C library is glibc, have it keep what is freed for the next tensor.

    It would give every large tensor back to the system, which then makes and clears each page of the next one: a
    quarter of the processor time of a small model's training step.
    """
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        for option, value in MALLOPT.values():
            library.mallopt(option, value)
