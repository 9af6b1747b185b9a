"""The models by the name of their architecture.  Only `__main__`, the rules and tests read this; the rest takes a model."""

from cvoting.models.akorn import AKOrN

MODELS = {"akorn": AKOrN}
