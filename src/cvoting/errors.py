"""The base of every error that the user's input can cause."""


class CvotingError(Exception):
    """Something outside the code is wrong: what was found, what was expected, what to do.

    `python -m cvoting` prints the message alone; any other exception is a bug and keeps its traceback.
    """
