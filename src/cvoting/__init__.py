"""C-Voting, reproduced: recurrent models, test-time voting, and every figure and table of the paper."""

__version__ = "0.1.0"
