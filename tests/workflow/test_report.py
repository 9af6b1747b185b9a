"""The report: one page with every figure and table, what they show, and what made them."""

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from study_jobs import StudyJobs

pytestmark = pytest.mark.slow

TOY = StudyJobs(Path(__file__).parents[2] / "params/toy.yaml").study
FIGURES, TABLES = list(TOY["figures"]), list(TOY["tables"])
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: Without a network the browser would go on asking for one.
OFFLINE = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
#: Added to the page: draws every figure it has, and leaves their widths in the document.
DRAW_ALL = """
<pre id="widths"></pre>
<script>
const widths = {}, figures = Object.entries(results).filter(([path]) => path.endsWith(".png"));
for (const [path, {data_uri}] of figures) {
    const image = new Image();
    image.onload = image.onerror = () => {
        widths[path] = image.naturalWidth;
        document.getElementById("widths").textContent = JSON.stringify(widths);
    };
    image.src = data_uri;
}
</script>
"""


@pytest.fixture(scope="module")
def page(built, tmp_path_factory):
    """The report of the toy study, a file."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    built.snakemake("--report", str(path))
    return path


@pytest.fixture(scope="module")
def results(page):
    """What the page holds, by path."""
    return embedded(page, "results")


def embedded(page, name):
    """A variable of the page."""
    text = page.read_text()
    return json.JSONDecoder().raw_decode(text, text.index("{", text.index(f'var {name} = {{"')))[0]


def test_every_figure_and_table_has_its_place_and_its_caption(page, results):
    for kind, names, suffix in (("figure", FIGURES, "png"), ("table", TABLES, "csv")):
        for name in names:
            path = f"results/toy/{kind}s/{name}.{suffix}"
            number = re.match(r"(fig|table)(\d+)|extra", name)
            of = {"fig": f"Figure {number[2]}", "table": f"Table {number[2]}"}.get(number[1], "Beyond the paper")
            assert f"{of} ({TOY['title']})" in results[path]["caption"]
            category = embedded(page, "categories")[f"{kind}s".title()]
            assert path in category["beyond the paper" if of == "Beyond the paper" else "of the paper"]


def test_every_figure_and_table_says_what_made_it(built, page, results):
    assert set(embedded(page, "categories")["Claims"]["Other"]) == {
        f"results/toy/claims.{kind}" for kind in ("csv", "md")
    }
    for path, result in results.items():
        if "/claims." in path:
            continue
        name = Path(path).stem
        made = result["job_properties"]
        assert made["rule"] == (name if "/figures/" in path else f"make_{name}")
        assert re.search(r"code=[0-9a-f]{16}", made["params"]), path
        params = made["params"].replace(r"\"", '"')
        recipe = json.JSONDecoder().raw_decode(params, params.index("{"))[0]
        assert recipe[path.split("/")[2].removesuffix("s")] == name
        made_from = re.search(r"Made from (.*?);", result["caption"], flags=re.DOTALL)[1].split()
        tracked = set(json.loads((built.folder / "provenance/toy.lock.json").read_text())["outputs"][path]["inputs"])
        assert {file.rstrip(",") for file in made_from} == tracked


def test_figures_in_the_page_are_those_of_the_study(built, results):
    for name in FIGURES:
        path = f"results/toy/figures/{name}.png"
        kind, content = results[path]["data_uri"].split(",", 1)
        assert kind.startswith("data:image/png;")
        assert base64.b64decode(content) == (built.folder / path).read_bytes()


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine to open the page with")
def test_a_browser_draws_every_figure(page, tmp_path):
    opening, closing = page.read_text().rsplit("</body>", 1)  # the page's scripts have the word as well
    (tmp_path / "page.html").write_text(f"{opening}{DRAW_ALL}</body>{closing}")
    command = [BROWSER, *OFFLINE, f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=20000"]
    shown = subprocess.run(
        [*command, "--dump-dom", (tmp_path / "page.html").as_uri()], capture_output=True, text=True, timeout=120
    )
    found = re.search(r'<pre id="widths">(.*?)</pre>', shown.stdout)
    assert found, shown.stderr[-2000:]
    widths = json.loads(found[1])
    assert set(widths) == {f"results/toy/figures/{name}.png" for name in FIGURES}
    assert min(widths.values()) > 500
    assert f"C-Voting, {TOY['title']}" in shown.stdout, "the page's own opening is not shown"
