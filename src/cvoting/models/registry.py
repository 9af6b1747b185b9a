"""The models by architecture.  Only `__main__`, the rules and tests read this; library functions receive a model."""

from cvoting.models.akorn import AKOrN

MODELS = {"akorn": AKOrN}
