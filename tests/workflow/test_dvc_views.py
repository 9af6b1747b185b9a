"""What `dvc metrics` and `dvc plots` show of a study, and of two versions of it."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import snakemake
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
METRICS = "results/toy/metrics.json"
STUDY = yaml.safe_load((ROOT / "params/toy.yaml").read_text())
BANKS = STUDY["banks"]
#: The plots of dvc.yaml by their titles, and the panels of each.
TITLES = {
    about["title"]: name
    for plot in yaml.safe_load((ROOT / "dvc.yaml").read_text())["plots"]
    for name, about in plot.items()
}
PANELS = {
    "voting": set(BANKS),
    "calibration": {bank for bank, block in BANKS.items() if block.get("logit_candidates")},
    "training_accuracy": set(STUDY["runs"]),
    "training_loss": set(STUDY["runs"]),
}
#: The libraries that DVC's pages load from the network; Snakemake's reports bring copies.
VEGA = Path(snakemake.__file__).parent / "assets/data"
#: Draws each specification of a JSON file without a browser; prints how many lines it has, and all warnings.
DRAW = """
const [assets, file] = process.argv.slice(1), Module = require("module"), resolve = Module._resolveFilename;
const ours = name => name === "vega" ? `${assets}/vega/vega.js` : name;
Module._resolveFilename = function (name, ...rest) { return resolve.call(this, ours(name), ...rest); };
const vega = require("vega"), vegaLite = require(`${assets}/vega-lite/vega-lite.js`), warnings = [];
const logger = vega.logger(vega.Warn), warn = text => { warnings.push(String(text)); return logger; };
Object.assign(logger, {warn, error: warn});
const parsed = spec => vega.parse(vegaLite.compile(spec, {logger}).spec);
const draw = spec => new vega.View(parsed(spec), {renderer: "none", logger}).toSVG();
Promise.all(JSON.parse(require("fs").readFileSync(file)).map(draw)).then(drawn => {
  const lines = drawn.map(svg => svg.match(/mark-line/g).length);
  console.log(JSON.stringify({lines, warnings}));
});
"""


@pytest.fixture(scope="module")
def edited(built, tmp_path_factory):
    """A clone with other bins of the calibration error, summarised."""
    clone = built.clone(tmp_path_factory.mktemp("edited") / "clone")
    clone.edit_params(7, "calibration", "bins")
    clone.snakemake(METRICS)
    return clone


def metrics(project):
    """The numbers of a study."""
    return json.loads((project.folder / METRICS).read_text())


def plots(project, folder, *words):
    """The specifications on the page that a command of `dvc plots` writes into a folder, by the plots of dvc.yaml."""
    said, page = project.dvc("plots", *words, "--out", str(folder)), folder / "index.html"
    assert said.strip() == page.as_uri(), "there is nothing else to say: no error, no warning"
    specifications = re.findall(r"var spec = (\{.*?\});\s*vegaEmbed", page.read_text(), flags=re.DOTALL)
    found = {TITLES[one["title"]["text"]]: one for one in map(json.loads, specifications)}
    assert len(specifications) == len(found) == len(PANELS)
    return found


def series(specification):
    """The lines of a plot: panel, line and version."""
    return {(row["panel"], row["line"], row["rev"]) for row in specification["data"]["values"]}


def test_dvc_shows_the_metrics_of_the_study(built):
    shown = json.loads(built.dvc("metrics", "show", "--json"))
    assert shown[""]["data"] == {METRICS: {"data": metrics(built)}}


def test_a_comparison_of_metrics_shows_what_an_edit_changed_and_nothing_else(built, edited):
    shown = json.loads(edited.dvc("metrics", "diff", "--json"))[METRICS]
    before, after = metrics(built)["calibration"], metrics(edited)["calibration"]
    found = {name: (numbers["old"], numbers["new"]) for name, numbers in shown.items()}
    assert found == {
        f"calibration.{bank}.ece": (before[bank]["ece"], after[bank]["ece"]) for bank in PANELS["calibration"]
    }


def test_every_plot_has_every_panel_with_its_numbers(built, tmp_path):
    for name, specification in plots(built, tmp_path, "show").items():
        assert "<DVC_" not in json.dumps(specification)
        assert {panel for panel, _, _ in series(specification)} == PANELS[name]
        x, y = (re.search(r"'(\w+)'", step["calculate"])[1] for step in specification["transform"])
        assert all(float(row[x]) > 0 and float(row[y]) >= 0 for row in specification["data"]["values"])


def test_two_versions_of_a_plot_are_told_apart(edited, tmp_path):
    ece = {}
    for name, specification in plots(edited, tmp_path, "diff", "HEAD").items():
        assert {(panel, rev) for panel, _, rev in series(specification)} == {
            (panel, rev) for panel in PANELS[name] for rev in ("HEAD", "workspace")
        }
        for row in specification["data"]["values"] if name == "calibration" else ():
            ece.setdefault(row["rev"], []).append((row["panel"], row["line"], row["temperature"], row["ece"]))
    assert ece["HEAD"] != ece["workspace"]


@pytest.mark.skipif(not (shutil.which("node") and VEGA.is_dir()), reason="needs node, and Snakemake's copy of Vega")
def test_vega_draws_a_line_for_each_series_without_a_warning(edited, tmp_path):
    specifications = list(plots(edited, tmp_path / "page", "diff", "HEAD").values())
    (tmp_path / "specifications.json").write_text(json.dumps(specifications))
    command = ["node", "-e", DRAW, str(VEGA), str(tmp_path / "specifications.json")]
    drawn = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert drawn == {"lines": [len(series(one)) for one in specifications], "warnings": []}
