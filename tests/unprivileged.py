"""Starts commands as a user for whom permissions count, also where the tests run as root."""

import os
import sys

#: Starts a command as root without the capabilities that let root write where permissions forbid it (Linux): the two
#: numbers are CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, 24 is PR_CAPBSET_DROP.
WITHOUT_OVERRIDE = """
import ctypes, os, sys
for capability in (1, 2):
    assert ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) == 0, "root cannot be kept from writing here"
os.execv(sys.argv[1], sys.argv[1:])
"""


def launcher() -> tuple[str, ...]:
    """What stands before a command so that it cannot write where permissions forbid it."""
    return (sys.executable, "-c", WITHOUT_OVERRIDE) if os.geteuid() == 0 else ()
