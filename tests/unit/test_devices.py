"""Where torch computes, and what is done with memory there."""

import platform
import subprocess
import sys

import pytest
import torch

from cvoting.devices import choose_device
from cvoting.errors import CvotingError

#: Trains a small HRM for some segments, and prints how many pages the system had to make for each after the first few.
PAGES_PER_STEP = """
import resource
import torch
from cvoting.devices import choose_device
from cvoting.models.hrm import HRM
from cvoting.params.hrm import HrmParams

choose_device(1)
params = HrmParams(
    architecture="hrm", channels=64, heads=4, expansion=4, H_cycles=2, L_cycles=2, H_layers=2, L_layers=2,
    positions="rope", prefix=True, initial_state="per_token",
)
model = HRM(params, (6, 6), 7, 7)
model.initialise(torch.Generator())
questions, noise = torch.zeros(64, 36, dtype=torch.long), torch.ones(64, 1, *model.noise_shape)
faults = []
for _ in range(8):
    model.zero_grad(set_to_none=True)
    model(questions, noise, 1).sum().backward()
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
print((faults[-1] - faults[2]) // 5)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_memory_of_a_freed_tensor_serves_the_next(monkeypatch):
    monkeypatch.setenv("CVOTING_DEVICE", "cpu")
    pages = subprocess.run([sys.executable, "-c", PAGES_PER_STEP], capture_output=True, check=True, text=True).stdout
    assert int(pages) < 500  # thousands where freed memory is given back


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
