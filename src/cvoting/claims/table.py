"""The table of all claims: a row for each number that bears on one, with verdict and rule."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cvoting.claims.claim import Claim, Part
from cvoting.claims.confidence_claims import CONFIDENCE_CLAIMS
from cvoting.claims.estimates import Estimate
from cvoting.claims.evidence import Evidence, NotRunError
from cvoting.claims.itrsa_claims import ITRSA_CLAIMS
from cvoting.claims.model_claims import MODEL_CLAIMS, count_parameters
from cvoting.claims.open_questions import OPEN_QUESTIONS
from cvoting.claims.page import write_page
from cvoting.claims.rules import Printed, Verdict, judge, overall
from cvoting.claims.voting_claims import VOTING_CLAIMS
from cvoting.published import read_field, read_published
from cvoting.table_files import TableError, read_tables, rounded, write_csv

#: Every claim in the order of its number, then the questions.
CLAIMS = (
    *sorted((*VOTING_CLAIMS, *ITRSA_CLAIMS, *CONFIDENCE_CLAIMS, *MODEL_CLAIMS), key=lambda claim: int(claim.id[1:])),
    *OPEN_QUESTIONS,
)
#: The kinds of tables that a recipe lists banks of, and what their files are called in `TABLES`.
KINDS = {
    "voting": "voting table",
    "paired": "paired comparison",
    "steps": "voting table",
    "calibration": "calibration table",
    "discrimination": "discrimination table",
    "trajectories": "table of trajectories",
}
COLUMNS = (
    "claim", "about", "claim_verdict", "number", "figure_or_section", "published_id", "published", "published_spread",
    "published_n", "unit", "value", "low", "high", "level", "interval", "K", "trend", "puzzles", "training_seeds",
    "inference_seeds", "rollout_steps", "banks", "verdict", "rule_name", "rule", "note", "command",
    "headline", "study", "title",
)  # fmt: skip


def write_claims(
    recipe: Mapping[str, Any],
    files: Mapping[str, Sequence[Path]],
    checkpoints: Sequence[Path],
    published: Path,
    field: Path,
    out_dir: Path,
) -> None:
    """Write `claims.csv` and `claims.md`.

    Args:
        recipe: `study`, `title`, `paper_scale`; `banks` and `longest` by model and dataset; `ablation`, the banks of
            Table 4; `tables`, by kind the banks that have such a table; `trained_on`, the training puzzles of
            banks whose model trained for others; `counted`, the run of each model whose
            parameters are counted, with its first training seed; `shown`, the paper's figures and tables in the study;
            `bootstrap`.
        files: of each kind the tables, in the order of the recipe.
        checkpoints: of the runs of `counted`, in their order.
        published, field: reference/published.csv and reference/field.csv.
        out_dir: the folder of the two files.

    Raises:
        PublishedError: when one of the references is not as it should be.
        TableError: when a file is not what it should be, or there is not one for each bank or run.
    """
    numbers, others = read_published(published).set_index("id"), read_field(field)
    if len(checkpoints) != len(recipe["counted"]):
        of = ", ".join(run for run, _ in recipe["counted"].values())
        raise TableError(f"{len(checkpoints)} files, expected {len(recipe['counted'])}: checkpoints of {of}")
    counted = dict(zip(recipe["counted"], map(count_parameters, checkpoints), strict=True))
    evidence = Evidence(
        banks=recipe["banks"],
        longest=recipe["longest"],
        ablation=recipe["ablation"],
        tables={kind: read_tables(KINDS[kind], recipe["tables"][kind], files[kind]) for kind in KINDS},
        parameters=counted,
        published=numbers,
        bootstrap=recipe["bootstrap"],
    )
    table = claims_table(CLAIMS, evidence, recipe)
    write_csv(table, out_dir / "claims.csv")
    write_page(table, others, out_dir / "claims.md")


def claims_table(claims: Sequence[Claim], evidence: Evidence, about: Mapping[str, Any]) -> pd.DataFrame:
    """A row for each number of each claim.

    Args:
        claims: which.
        evidence: the study.
        about: `study`, `title`, `paper_scale`, `trained_on` and `shown`, as of `write_claims`.
    """
    rows: list[dict[str, object]] = []
    for claim in claims:
        of_parts = [_row(claim, part, evidence, about) for part in claim.parts]
        verdict = overall([Verdict(str(row["verdict"])) for row in of_parts])
        target = claim.shown_in if claim.shown_in in about["shown"] else "claims"
        shared = {"claim": claim.id, "about": claim.about, "claim_verdict": verdict.value}
        shared |= {"command": f"snakemake --cores all {target}", "study": about["study"], "title": about["title"]}
        rows += [row | shared for row in of_parts]
    whole = dict.fromkeys(("published_n", "K", "rollout_steps"), "Int64")
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(whole)


def _row(claim: Claim, part: Part, evidence: Evidence, study: Mapping[str, Any]) -> dict[str, object]:
    """What there is to say of a number."""
    printed = evidence.printed(part.published)
    about: dict[str, object] = {
        "number": part.about,
        "figure_or_section": printed["figure_or_section"],
        "published_id": part.published,
        "published": printed["value"],
        "published_spread": printed["spread"],
        "published_n": printed["n"],
        "unit": part.unit,
        "rule_name": part.rule.name,
        "rule": part.rule.words,
        "headline": part.headline,
    }
    try:
        found = _like_with_like(part.number(evidence), study["trained_on"])
    except NotRunError as missing:
        return about | {"verdict": Verdict.NOT_RUN.value, "note": str(missing)}
    verdict = judge(part.rule, found, Printed.of(printed), study["paper_scale"], claim.question)
    return about | _numbers(found, study["trained_on"]) | {"verdict": verdict.value}


def _like_with_like(found: Estimate, trained_on: Mapping[str, str]) -> Estimate:
    """A number, which bears on no claim where some of its models trained for what they solve and others did not."""
    others = [source.bank in trained_on for source in found.sources]
    if all(others) or not any(others):
        return found
    return found.over(*found.sources, incomparable=found.incomparable or "models of unlike training")


def _numbers(found: Estimate, trained_on: Mapping[str, str]) -> dict[str, object]:
    """The columns of an estimate; its note names models that trained on other puzzles than those they solve."""
    sources = {source.bank: source for source in found.sources}.values()
    sizes = {
        name: " / ".join(dict.fromkeys(str(getattr(source, name)) for source in sources))
        for name in ("puzzles", "training_seeds", "inference_seeds")
    }
    banks = [source.bank for source in sources]
    foreign = [f"{bank} trained on {trained_on[bank]}" for bank in banks if bank in trained_on]
    return {
        **rounded({"value": found.value, "low": found.low, "high": found.high}),
        **sizes,
        "level": found.level,
        "interval": found.interval,
        "K": found.K,
        "trend": None if found.trend is None else round(found.trend, 12),
        "rollout_steps": sum(source.rollout_steps for source in sources) or None,
        "banks": " ".join(banks),
        "note": "; ".join(filter(None, [found.incomparable, *foreign, found.note])),
    }
