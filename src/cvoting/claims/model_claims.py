"""Claims about models: the ablations of ItrSA++ (Table 4) and the numbers of parameters (Appendix C)."""

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cvoting.claims.claim import Claim, Part
from cvoting.claims.estimates import Estimate, exact, minus
from cvoting.claims.evidence import Evidence, NotRunError
from cvoting.claims.rules import Above, Matches
from cvoting.table_files import NO_VOTE, TableError

#: Variant of Table 4 -> what it is called, and its published value.
VARIANTS = {
    "no_truncation": ("w/o gradient truncation", "c15-no-truncation"),
    "no_ema": ("w/o EMA", "c15-no-ema"),
    "linear_mixing": ("cross-attention to linear", "c15-linear-mixing"),
    "ffn": ("SwiGLU to FFN", "c15-ffn"),
}
#: Half of the last digit of "about 3 million".
HALF_A_MILLION = 500_000.0


def count_parameters(checkpoint: Path) -> int:
    """The numbers of a model's weights, read from the head of its file alone.

    Of HRM the fixed vectors that it starts from are among them.

    Args:
        checkpoint: a file of `cvoting.checkpoint`, in the format of safetensors: the length of a JSON text in 8 bytes,
            then the text, which says the shape of every tensor.

    Raises:
        TableError: when the file is no checkpoint.
    """
    content = checkpoint.read_bytes()
    try:
        shapes = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        found = sum(math.prod(shapes[name]["shape"]) for name in shapes if name.startswith("average/"))
    except (ValueError, KeyError, TypeError):
        found = 0
    if not found:
        raise TableError(f"{checkpoint}: not a checkpoint, whose parameters are counted: train it again")
    return found


def parameters(evidence: Evidence, model: str) -> Estimate:
    """The number of parameters of a model."""
    if model not in evidence.parameters:
        raise NotRunError(f"no run of {model} that is tested")
    return exact(float(evidence.parameters[model]))


def ratio(evidence: Evidence, model: str, other: str) -> Estimate:
    """The number of parameters of a model divided by that of another."""
    return exact(parameters(evidence, model).value / parameters(evidence, other).value)


def without_a_vote(variant: str) -> Callable[[Evidence], Estimate]:
    """The accuracy of a variant without a vote."""
    return lambda e: e.accuracy(e.variant(variant), NO_VOTE)


def below_full(variant: str) -> Callable[[Evidence], Estimate]:
    """The accuracy of the whole model minus that of a variant, without a vote."""
    return lambda e: minus(e.accuracy(e.variant("full"), NO_VOTE), e.accuracy(e.variant(variant), NO_VOTE))


def _of_table4(variant: str, name: str, published: str) -> Part:
    return Part(f"accuracy {name}", without_a_vote(variant), Matches(0.0005), published)


MODEL_CLAIMS = (
    Claim(
        "c15",
        "each part of ItrSA++ helps on Sudoku-extreme, and without gradient truncation or EMA it learns nothing",
        (
            *(_of_table4(variant, *names) for variant, names in VARIANTS.items()),
            _of_table4("full", "of the whole model", "c15-full"),
            *(
                Part(
                    f"whole model minus {name}",
                    below_full(variant),
                    Above(),
                    "c15",
                    headline=f"ItrSA++ minus {name}, Sudoku-extreme",
                )
                for variant, (name, _) in VARIANTS.items()
            ),
        ),
        "table4_ablation",
    ),
    Claim(
        "c16",
        "ItrSA++ and AKOrN have about 3 million parameters, HRM about 27 million",
        (
            *(
                Part(
                    f"parameters of {name}",
                    partial(parameters, model=model),
                    Matches(HALF_A_MILLION),
                    f"c16-{short}",
                    "count",
                )
                for model, name, short in (
                    ("itrsa", "ItrSA++", "itrsa"),
                    ("akorn", "AKOrN", "akorn"),
                    ("hrm_fixed", "HRM", "hrm"),
                )
            ),
            Part(
                "HRM's divided by ItrSA++'s",
                partial(ratio, model="hrm_fixed", other="itrsa"),
                Matches(0.5),
                "c16-ratio",
                "",
            ),
        ),
    ),
)
