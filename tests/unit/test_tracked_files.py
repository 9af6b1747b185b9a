"""What git carries to every clone stays small."""

import subprocess
from pathlib import Path

import pytest

MB = 10**6


def test_no_tracked_file_is_large_and_the_store_has_its_limits(repository: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=repository, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout: nothing is tracked")
    files = [repository / name for name in listed.stdout.split("\0") if name and (repository / name).is_file()]
    assert files
    stored = [file for file in files if file.is_relative_to(repository / "store")]
    large = [file for file in files if file.stat().st_size > (30 if file in stored else 1.5) * MB]
    assert not large, f"expected at most 30 MB a file in store/ and 1.5 MB elsewhere: {large}"
    assert sum(file.stat().st_size for file in stored) <= 100 * MB, "store/ holds at most 100 MB"
