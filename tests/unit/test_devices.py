"""Where torch computes, and what is done with memory there."""

import ctypes
import subprocess
import sys

import pytest
import torch

from cvoting.devices import choose_device
from cvoting.errors import CvotingError

#: Makes and frees a tensor of 8 MiB, and prints how many pages the system had to make for each after the first few.
PAGES_PER_TENSOR = """
import resource
import torch
from cvoting.devices import choose_device

if {chosen}:
    choose_device(1)
faults = []
for _ in range(13):
    torch.ones(2**21)
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
print((faults[-1] - faults[2]) // 10)
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallopt"), reason="the C library is not glibc")
def test_memory_of_a_freed_tensor_serves_the_next(monkeypatch):
    monkeypatch.setenv("CVOTING_DEVICE", "cpu")

    def pages(chosen: bool) -> int:
        code = PAGES_PER_TENSOR.format(chosen=chosen)
        return int(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)

    assert pages(True) < 10 < pages(False)


def test_the_device_is_said_aloud_with_its_threads(monkeypatch, capsys):
    monkeypatch.setenv("CVOTING_DEVICE", "cpu")
    before = torch.get_num_threads()
    try:
        assert choose_device(3) == torch.device("cpu")
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert capsys.readouterr().err == "device: cpu (3 threads)\n"


def test_a_device_that_is_not_here_or_no_threads_are_refused(monkeypatch):
    with pytest.raises(CvotingError, match="--threads 0: expected at least 1"):
        choose_device(0)
    monkeypatch.setenv("CVOTING_DEVICE", "tpu")
    with pytest.raises(CvotingError, match=r"CVOTING_DEVICE = 'tpu': expected .*cpu"):
        choose_device(1)
