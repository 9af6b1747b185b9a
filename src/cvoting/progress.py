"""Progress of long work: one line now and then, with the time left."""

import sys
import time

from tqdm import tqdm


class Progress:
    """Counts steps and prints lines that may go to a terminal, a log file, or both, while other jobs print theirs."""

    def __init__(
        self, label: str, total: int, done: int = 0, unit: str = "it", seconds: float = 10.0, silent: bool = False
    ):
        """Start counting.

        Args:
            label: what is being done.
            total: steps in all.
            done: steps made by an earlier process; they do not count for the rate.
            unit: what a step is called.
            seconds: least time between two lines.
            silent: print none, as another process does.
        """
        self.label, self.total, self.done, self.unit, self.seconds = label, total, done, unit, seconds
        self.first, self.silent = done, silent
        self.started = self.printed = time.monotonic()
        if done and not silent:
            print(f"{label}: continues after {done} of {total} {unit}", file=sys.stderr, flush=True)

    def step(self, count: int = 1, note: str = "") -> None:
        """Count `count` more steps, and print a line when one is due; `note` ends it."""
        self.done += count
        now = time.monotonic()
        if self.silent or (now - self.printed < self.seconds and self.done < self.total):
            return
        self.printed = now
        elapsed = now - self.started
        left = elapsed / (self.done - self.first) * (self.total - self.done)
        clock = f"{tqdm.format_interval(elapsed)} elapsed, {tqdm.format_interval(left)} left"
        ending = f", {note}" if note else ""
        print(f"{self.label}: {self.done}/{self.total} {self.unit}, {clock}{ending}", file=sys.stderr, flush=True)
