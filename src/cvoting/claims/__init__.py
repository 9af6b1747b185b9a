"""The verdict on every claim of the paper, and on what it leaves open: judged by rules, from tables alone."""
