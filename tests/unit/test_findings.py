"""Sentences whose numbers are read from published tables."""

from pathlib import Path

import pytest

from cvoting.errors import CvotingError
from cvoting.findings import write_findings

CLAIMS = """claim,number,K,unit,value,low,high,level
c3,C-voting minus E-voting,64,%,0.101,0.076,0.126,0.95
c9,best temperature,,,0.75,0.5,1.0,0.95
c16,parameters,,count,87360,87360,87360,
"""
FIGURE = """K,value,auroc,auroc_low,auroc_high,share,level
1,0.25,0.9,0.8,0.95,0.125,0.9
2,0.5,0.8,,,0.25,0.9
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder with a template and published tables."""
    (tmp_path / "results/laptop/figures").mkdir(parents=True)
    (tmp_path / "results/laptop/claims.csv").write_text(CLAIMS)
    (tmp_path / "results/laptop/figures/fig.csv").write_text(FIGURE)
    return tmp_path


def written(docs: Path, template: str) -> str:
    """The page after its first line."""
    (docs / "template.md").write_text(template)
    write_findings(docs / "template.md", docs / "results", docs / "findings.md", check=False)
    first, _, rest = (docs / "findings.md").read_text().partition("\n")
    assert first == "<!-- made by `python -m cvoting findings` from template.md: do not edit -->"
    return rest


def test_a_number_is_that_of_its_row_with_its_interval_and_a_link(docs: Path) -> None:
    text = written(docs, 'C is {{ number("laptop/claims.csv", claim="c3", K=64) }} points above.\n')
    link = '(results/laptop/claims.csv "claim=c3; K=64")'
    assert text == f"C is [10.1 [7.6, 12.6]]{link} points above.\n"


def test_counts_and_plain_numbers_have_their_own_form(docs: Path) -> None:
    text = written(
        docs,
        """{% macro claim(id) %}{{ number("laptop/claims.csv", claim=id) }}{% endmacro %}
{{ claim("c9") }} {{ claim("c16") }}""",
    )
    assert "[0.75 [0.5, 1]]" in text
    assert "[87,360]" in text


def test_other_columns_and_units_are_named(docs: Path) -> None:
    calls = ('unit="%", K=2', '"auroc", K=1', '"share", "%", K=1', '"auroc", K=2')
    text = written(docs, " ".join(f'{{{{ number("laptop/figures/fig.csv", {call}) }}}}' for call in calls))
    assert text.startswith("[50.0](results/laptop/figures/fig.csv")
    assert "[0.9 [0.8, 0.95]]" in text
    assert "[12.5]" in text
    assert "[0.8]" in text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('number("laptop/nothing.csv", K=1)', "no such table"),
        ('number("laptop/figures/fig.csv", L=1)', "no column 'L': expected one of K, value, auroc, "),
        ('number("laptop/figures/fig.csv", "low", K=1)', "no column 'low'"),
        (
            'number("laptop/claims.csv", "number", claim="c3", K=64)',
            "could not convert .* expected a column of numbers",
        ),
        ('number("laptop/figures/fig.csv", K=4)', "0 rows with {'K': '4'}: expected one"),
        ('number("laptop/claims.csv", level=0.95)', "2 rows with {'level': '0.95'}: expected one"),
        ("figure(1)", r"template\.md: 'figure' is undefined"),
    ],
)
def test_a_number_without_its_one_row_is_refused(docs: Path, call: str, message: str) -> None:
    (docs / "template.md").write_text(f"It is {{{{ {call} }}}}.\n")
    with pytest.raises(CvotingError, match=message):
        write_findings(docs / "template.md", docs / "results", docs / "findings.md", check=False)
    assert not (docs / "findings.md").exists()


def test_a_page_with_other_numbers_is_found(docs: Path) -> None:
    (docs / "template.md").write_text('{{ number("laptop/claims.csv", claim="c3") }}\n')
    files = docs / "template.md", docs / "results", docs / "findings.md"
    with pytest.raises(CvotingError, match=r"findings\.md has other numbers than .*results: run"):
        write_findings(*files, check=True)
    write_findings(*files, check=False)
    write_findings(*files, check=True)
    (docs / "results/laptop/claims.csv").write_text(CLAIMS.replace("0.101", "0.102"))
    with pytest.raises(CvotingError, match="has other numbers"):
        write_findings(*files, check=True)


def test_the_published_page_has_the_published_numbers(repository: Path) -> None:
    docs = repository / "docs"
    write_findings(docs / "findings.template.md", docs / "results", docs / "findings.md", check=True)
