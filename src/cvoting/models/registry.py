"""The models by architecture.  Only `__main__`, the rules and tests read this; library functions receive a model."""

from cvoting.models.akorn import AKOrN
from cvoting.models.base import RecurrentModel
from cvoting.models.hrm import HRM
from cvoting.models.itrsa import ItrSA
from cvoting.models.transformer import Transformer

MODELS: dict[str, type[RecurrentModel]] = {"akorn": AKOrN, "hrm": HRM, "itrsa": ItrSA, "transformer": Transformer}
