"""Parameters of the paper's tables."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import ClassVar

from cvoting.params.core import key


@dataclass(frozen=True, kw_only=True)
class HyperparameterTable:
    """The hyper-parameters of a run beside the paper's."""

    #: Which tables of each bank it is made from.
    tables: ClassVar[tuple[str, ...]] = ("voting",)
    published: ClassVar[str] = "reference/hyperparameters.csv"
    #: Whose hyper-parameters the paper's table has.
    architecture: ClassVar[str]
    run: str = key("the run whose parameters are shown")

    @property
    def banks(self) -> tuple[str, ...]:
        """The banks it is made from: none."""
        return ()


@dataclass(frozen=True, kw_only=True)
class ItrsaTable(HyperparameterTable):
    """The hyper-parameters of a run of ItrSA++."""

    architecture: ClassVar[str] = "itrsa"


@dataclass(frozen=True, kw_only=True)
class HrmTable(HyperparameterTable):
    """The hyper-parameters of a run of HRM."""

    architecture: ClassVar[str] = "hrm"


@dataclass(frozen=True, kw_only=True)
class AkornTable(HyperparameterTable):
    """The hyper-parameters of a run of AKOrN."""

    architecture: ClassVar[str] = "akorn"


@dataclass(frozen=True, kw_only=True)
class AblationTable:
    """The ablations of ItrSA++: the bank of each variant."""

    tables: ClassVar[tuple[str, ...]] = ("voting",)
    published: ClassVar[str] = "reference/published.csv"
    no_truncation: str = key("bank of the run without gradient truncation")
    no_ema: str = key("bank of the whole model's run with its raw weights")
    linear_mixing: str = key("bank of the run with a linear map in place of cross-attention")
    ffn: str = key("bank of the run with a plain feed-forward network in place of SwiGLU")
    full: str = key("bank of the whole model's run")

    @property
    def banks(self) -> tuple[str, ...]:
        """The banks it is made from."""
        return tuple(getattr(self, field.name) for field in fields(self))


@dataclass(frozen=True, kw_only=True)
class RulesTable:
    """Selection rules compared on the same candidates."""

    tables: ClassVar[tuple[str, ...]] = ("voting", "paired")
    published: ClassVar[str] = "reference/published.csv"
    banks: tuple[str, ...] = key("banks of several candidates, in this order")


PaperTable = ItrsaTable | HrmTable | AkornTable | AblationTable | RulesTable


@dataclass(frozen=True, kw_only=True)
class PaperTablesParams:
    """The tables of the study; an absent table is not made."""

    table1_itrsa: ItrsaTable | None = key("Table 1: hyper-parameters of ItrSA++", default=None)
    table2_hrm: HrmTable | None = key("Table 2: hyper-parameters of HRM", default=None)
    table3_akorn: AkornTable | None = key("Table 3: hyper-parameters of AKOrN", default=None)
    table4_ablation: AblationTable | None = key("Table 4: ablations of ItrSA++", default=None)

    extra_selection_rules: RulesTable | None = key(
        "beyond the paper: which selection rule closes most of the gap between random choice and the oracle",
        default=None,
    )

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.__dataclass_fields__ if getattr(self, name) is not None)

    def items(self) -> Iterator[tuple[str, PaperTable]]:
        """Name and parameters of each table that is made."""
        return ((name, getattr(self, name)) for name in self)
