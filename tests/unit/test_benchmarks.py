"""The benchmarks run, write the form that they document, and their page says what their files say."""

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from cvoting.errors import CvotingError

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import bench  # noqa: E402
import harness  # noqa: E402
import page  # noqa: E402
from bench_rollouts import QUICK, network_alone  # noqa: E402
from op_times import KINDS, LINEAR, PRODUCTS, REST, operation_times  # noqa: E402

QUICKEST = ("training", "rollouts", "roofline", "voting")


def quick_run(tmp_path: Path, *sections: str) -> dict[str, Any]:
    """What a quick run writes."""
    bench.main([*sections, "--quick", "--threads", "1", "--json", str(tmp_path / "run.json")])
    return json.loads((tmp_path / "run.json").read_text())


def check_form(run: dict[str, Any], sections: tuple[str, ...]) -> None:
    """Refuse what is not of the documented form."""
    assert set(run) == {"form", "date", "commit", "machine", "cores", "threads", "versions", "quick", "sections"}
    assert run["form"] == harness.FORM
    assert run["quick"]
    assert run["threads"] == 1
    assert {"python", "torch", "numpy"} <= set(run["versions"])
    assert tuple(run["sections"]) == sections
    for name, rows in run["sections"].items():
        assert rows, name
        assert len({row["what"] for row in rows}) == len(rows), f"{name}: a name twice"
        for row in rows:
            assert {"what", "value", "unit"} <= set(row)
            assert all(math.isfinite(number) for number in row.values() if isinstance(number, float)), row
            known = row.get("yardsticks", {}).values()
            assert all(set(yardstick) == {"value", "unit"} and yardstick["value"] > 0 for yardstick in known), row
        if name in page.HISTORY:
            assert all(page.HISTORY[name] in row["yardsticks"] for row in rows)
    assert page.content([run | {"name": "run"}])


def test_a_quick_run_writes_the_documented_form(tmp_path: Path) -> None:
    check_form(quick_run(tmp_path, *QUICKEST), QUICKEST)


@pytest.mark.slow
def test_sections_that_compile_or_start_processes_write_it_too(tmp_path: Path) -> None:
    rest = tuple(name for name in bench.SECTIONS if name not in QUICKEST)
    check_form(quick_run(tmp_path, *rest), rest)


def test_without_names_everything_is_measured_that_does_not_take_long() -> None:
    assert set(bench.USUAL) == set(bench.SECTIONS) - {"load", "memory", "numerics", "sweep"}
    assert set(page.HISTORY) | set(page.LATEST) == set(bench.SECTIONS)


def test_an_unknown_section_is_refused_with_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["speed"])
    assert re.search(r"no section speed: choose from training, .*sweep", capsys.readouterr().err)


def test_the_operations_of_a_rollout_have_the_flops_that_are_counted() -> None:
    (case,) = QUICK
    whole = network_alone(case)
    spent = operation_times(whole.run).spent
    assert set(spent) == set(KINDS)
    assert REST not in spent
    counted = spent[LINEAR].flops + spent[PRODUCTS].flops
    assert counted == sum(of_kind.flops for of_kind in spent.values())
    assert counted / 1e9 == pytest.approx(whole.amount, rel=1e-9)


def test_medians_of_several_repetitions_are_beside_the_yardsticks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    took = iter([9.0, 9.0, 2.0, 4.0, 1.0, 5.0, 3.0, 6.0])
    monkeypatch.setattr(harness, "seconds", lambda run: next(took))
    monkeypatch.setattr(harness, "MOST", 3)
    work, yardstick = harness.Work("w", print, 6, "turns"), harness.Work("y", print, 10, "GB")
    (row,) = harness.compare([work], [yardstick], harness.Settings(1, False, tmp_path))
    known = {"y": {"value": 2.0, "unit": "GB/s"}}
    assert row == {
        "what": "w", "value": 3.0, "unit": "turns/s", "seconds": 2.0, "fastest": 1.0, "slowest": 3.0,
        "repetitions": 3, "yardsticks": known,
    }  # fmt: skip


def test_the_page_is_what_the_result_files_say() -> None:
    page.write(check=True)


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A folder with a page and the result file of one run."""
    (tmp_path / "README.md").write_text(f"# Benchmarks\n\n{page.BEGIN}\n\n<!-- end -->\n")
    rows = [
        {
            "what": "steps",
            "value": 3.0,
            "unit": "GFLOP/s",
            "seconds": 2.0,
            "yardsticks": {"linear map": {"value": 6.0, "unit": "GFLOP/s"}},
        }
    ]
    run = {"form": 1, "date": "2026-01-02 03:04", "commit": "0123abcd", "machine": "CPU", "cores": 2, "threads": 1}
    content = run | {"versions": {"torch": "2"}, "quick": False, "sections": {"training": rows}}
    (tmp_path / "2026-01-02-0123abcd.json").write_text(json.dumps(content))
    page.write(check=False, folder=tmp_path)
    return tmp_path


def test_the_page_shows_every_number_with_its_ratio(pages: Path) -> None:
    page.write(check=True, folder=pages)
    text = (pages / "README.md").read_text()
    assert "| steps | 3 GFLOP/s (0.5) |" in text
    assert "[2026-01-02-0123abcd](2026-01-02-0123abcd.json)" in text


def test_a_page_that_files_have_outdated_is_refused(pages: Path) -> None:
    run = json.loads((pages / "2026-01-02-0123abcd.json").read_text())
    (pages / "2026-01-03-4567cdef.json").write_text(json.dumps(run | {"date": "2026-01-03 00:00"}))
    with pytest.raises(CvotingError, match=r"README\.md is not what the files beside it say: run"):
        page.write(check=True, folder=pages)
    page.write(check=False, folder=pages)
    assert "| 2026-01-03-4567cdef, 1 thread | 2026-01-02-0123abcd, 1 thread |" in (pages / "README.md").read_text()
