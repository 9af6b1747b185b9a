"""What votes, figures and tables ask of the banks of a study."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cvoting.params.figures import (
    CalibrationFigure,
    ConfidenceFigure,
    FigureParams,
    PanelsFigure,
    RulesFigure,
    SeedsFigure,
    SolvedBoardFigure,
    SummaryFigure,
)
from cvoting.params.names import unknown
from cvoting.params.paper_tables import AblationTable, RulesTable
from cvoting.params.voting import BY_DIFFICULTY
from cvoting.voting import VOTES, Reference, Vote, available

if TYPE_CHECKING:
    from cvoting.params.study import Study


#: The tables of votes at the steps of `read_at`.
AT_STEPS = ("steps", "scaling")
#: What a bank needs for a figure of confidence.
MADE_OF = {
    "trajectories": "with `read_at`, the steps that are shown",
    "solved_board": "of Sudoku that keeps its boards, with `read_at`, the steps that are shown",
    "discrimination": "of several candidates, which are compared",
    "adaptive": "of several candidates, which are drawn one by one",
    **dict.fromkeys(("calibration", "reliability", "risk"), "with `logit_candidates`, whose calibration is shown"),
}


def vote_problems(study: "Study") -> Iterator[str]:
    """What is wrong with the votes and the numbers of candidates."""
    votes, K = list(study.voting.votes), study.voting.K
    for vote in votes:
        yield from unknown("voting.votes", vote, VOTES)
    most = max((bank.candidates for bank in study.banks.values()), default=K[-1])
    if K[-1] > most:
        yield f"voting.K = {list(K)}: expected at most {most}, the most candidates that a bank has"
    for name, bank in study.banks.items():
        if K[0] > bank.candidates:
            yield f"banks.{name}.candidates = {bank.candidates}: expected at least {K[0]}, the least K"
        for table in ("voting", "steps") if bank.read_at else ("voting",):
            if _offered(study, name, table) == {}:
                where = "has scores for" if table == "voting" else "has scores for at the steps of `read_at`"
                yield f"voting.votes = {votes}: expected at least one that banks.{name} {where}"


def figure_problems(study: "Study") -> Iterator[str]:
    """What is wrong with the banks and votes of the figures."""
    for name, figure in study.figures.items():
        for vote in figure.votes:
            yield from unknown(f"figures.{name}.votes", vote, study.voting.votes)
        for bank in figure.banks:
            yield from unknown(f"figures.{name}.banks", bank, study.banks)
            if bank in study.banks:
                kind = _confidence_bank if isinstance(figure, ConfidenceFigure) else _figure_bank
                yield from kind(study, name, figure, bank)
        if isinstance(figure, CalibrationFigure):
            for temperature in set(figure.temperatures) - set(study.calibration.temperatures):
                known = ", ".join(f"{t:g}" for t in study.calibration.temperatures)
                yield f"figures.{name}.temperatures: {temperature:g}: expected one of `calibration`, {known}"
        for panel in figure.panels:
            yield from _panel(study, name, figure, [bank for bank in panel if bank in study.banks])
        if isinstance(figure, SummaryFigure) and 1 not in study.voting.K:
            yield f"figures.{name}: expected 1 among voting.K, {list(study.voting.K)}: it shows what no vote gives"
        if isinstance(figure, RulesFigure):
            yield from _gap(study, f"figures.{name}", figure.banks)


def _confidence_bank(study: "Study", name: str, figure: FigureParams, bank: str) -> Iterator[str]:
    """Whether a bank has what a figure of confidence shows."""
    block, expected = study.banks[bank], f"figures.{name}.banks = {bank!r}: expected a bank"
    if missing := set(figure.tables) - set(study.tables_of(bank)):
        yield f"{expected} {MADE_OF[missing.pop()]}"
    elif block.random_start_anyway:
        yield f"{expected} that starts as its model was trained to"
    elif isinstance(figure, SolvedBoardFigure):
        for step in sorted(set(figure.steps) - {*block.read_at, block.T_eval}):
            known = ", ".join(map(str, sorted({*block.read_at, block.T_eval})))
            yield f"figures.{name}.steps: {step}: expected one that banks.{bank} is read out at, {known}"


def _figure_bank(study: "Study", name: str, figure: FigureParams, bank: str) -> Iterator[str]:
    """Whether a bank has what a figure shows."""
    (table,) = figure.tables
    offered, block = _offered(study, bank, table), study.banks[bank]
    shown_without_a_vote = block.candidates == 1 and isinstance(figure, PanelsFigure)
    if table in AT_STEPS and not block.read_at:
        yield f"figures.{name}.banks = {bank!r}: expected a bank with `read_at`, the steps that are shown"
    elif block.random_start_anyway:
        yield f"figures.{name}.banks = {bank!r}: expected a bank that starts as its model was trained to"
    elif not shown_without_a_vote and offered is not None and not set(figure.votes) & set(offered):
        choices = ", ".join(offered) or "(there are none)"
        yield f"figures.{name}.votes = {list(figure.votes)}: expected one that banks.{bank} can hold: {choices}"
    if isinstance(figure, SeedsFigure) and len(block.inference_seeds) < 2:
        yield f"figures.{name}.banks = {bank!r}: expected a bank with several inference seeds, whose spread is shown"


def _panel(study: "Study", name: str, figure: FigureParams, panel: Sequence[str]) -> Iterator[str]:
    """Whether the banks of a panel can be told apart and compared, and whether there is a vote."""
    datasets = {study.banks[bank].dataset for bank in panel}
    models = [study.runs[study.banks[bank].run].model for bank in panel if study.banks[bank].run in study.runs]
    if len(datasets) > 1:
        yield f"figures.{name}.panels = {list(panel)}: expected banks of one dataset, got {', '.join(sorted(datasets))}"
    if len(set(models)) < len(models):
        yield f"figures.{name}.panels = {list(panel)}: expected banks of different models, got {', '.join(models)}"
    against_K = figure.tables == ("voting",) and not isinstance(figure, SummaryFigure)
    if panel and against_K and all(study.banks[bank].candidates == 1 for bank in panel):
        yield f"figures.{name}: {', '.join(panel)}: expected a bank of several candidates in each panel, to vote"


def table_problems(study: "Study") -> Iterator[str]:
    """What is wrong with the runs and banks of the tables."""
    for name, table in study.tables.items():
        if isinstance(table, AblationTable):
            yield from _ablations(study, name, table)
        elif isinstance(table, RulesTable):
            yield from _rules(study, f"tables.{name}", table)
        elif table.run not in study.runs:
            yield from unknown(f"tables.{name}.run", table.run, study.runs)
        elif study.runs[table.run].imported:
            yield f"tables.{name}.run = {table.run!r}: expected a run that is trained here; its weights are imported"
        elif (model := study.models.get(study.runs[table.run].model)) is not None:
            found = model.network.architecture
            if found != table.architecture:
                yield f"tables.{name}.run = {table.run!r}: expected a run of {table.architecture}, got {found}"


def _ablations(study: "Study", name: str, table: AblationTable) -> Iterator[str]:
    """Whether variants differ by what they are called after."""
    if "confidence" not in study.voting.votes:
        yield f"tables.{name}: expected 'confidence' among voting.votes, {list(study.voting.votes)}"
    if 1 not in study.voting.K:
        yield f"tables.{name}: expected 1 among voting.K, {list(study.voting.K)}: it shows what no vote gives"
    for bank in table.banks:
        yield from unknown(f"tables.{name}", bank, study.banks)
    banks = {bank: study.banks[bank] for bank in table.banks if bank in study.banks}
    if len(set(table.banks)) < len(table.banks):
        yield f"tables.{name}: expected a bank of its own for each variant, got {', '.join(table.banks)}"
    for key in ("dataset", "split", "T_eval"):
        values = dict.fromkeys(getattr(bank, key) for bank in banks.values())
        if len(values) > 1:
            yield f"tables.{name}: expected banks of one {key}, got {', '.join(map(str, values))}"
    raw, full = banks.get(table.no_ema), banks.get(table.full)
    if raw and full and (raw.run, raw.weights, full.weights) != (full.run, "raw", "average"):
        yield f"tables.{name}.no_ema = {table.no_ema!r}: expected the run of {table.full} with `weights: raw`"


def _rules(study: "Study", where: str, table: RulesTable) -> Iterator[str]:
    """Whether rules can be compared with C-voting, and with random choice and the oracle."""
    if not table.banks:
        yield f"{where}.banks = []: expected at least one"
    for bank in table.banks:
        yield from unknown(f"{where}.banks", bank, study.banks)
    if "confidence" not in study.voting.votes:
        yield f"{where}: expected 'confidence' among voting.votes, {list(study.voting.votes)}"
    yield from _gap(study, where, table.banks)


def _gap(study: "Study", where: str, banks: Sequence[str]) -> Iterator[str]:
    """Whether there can be a gap between random choice and the oracle."""
    for reference in (name for name, vote in VOTES.items() if isinstance(vote, Reference)):
        if reference not in study.voting.votes:
            yield f"{where}: expected {reference!r} among voting.votes, {list(study.voting.votes)}: it shows the gap"
    for bank in banks:
        if bank in study.banks and not any(1 < K <= study.banks[bank].candidates for K in study.voting.K):
            found = f"banks.{bank} has {study.banks[bank].candidates}, and voting.K = {list(study.voting.K)}"
            yield f"{where}.banks = {bank!r}: expected a bank of which several candidates vote: {found}"


def _offered(study: "Study", name: str, table: str) -> dict[str, Vote] | None:
    """The votes in a bank's table; None where the study's names do not say."""
    bank = study.banks.get(name)
    run = study.runs.get(bank.run) if bank else None
    if bank is None or run is None or run.model not in study.models:
        return None
    extra = study.models[run.model].network.extra_scores
    known = [vote for vote in study.voting.votes if vote in VOTES]
    if table in AT_STEPS:
        return available(known, bank.step_scores(extra), answers=False)
    if table == "strata":
        known = [vote for vote in known if vote in BY_DIFFICULTY]
    return available(known, bank.scores(extra), boards=bank.boards)
