"""The code hash changes with the meaning of the code a job imports, and with nothing else."""

from pathlib import Path

import pytest
import yaml

from cvoting import recipes
from cvoting.codehash import CodeHashError, code_hash, import_closure
from cvoting.params.core import build
from cvoting.params.study import Study

SRC = Path(__file__).parents[2] / "src"
JOB = '''
"""A job."""
import os
from package.tools import twice
from package import constants


def job(x):
    """Docstring."""
    from package.lazy import late  # imported when the job runs

    return late(twice(x + constants.C))
'''
FILES = {
    "package/__init__.py": "",
    "package/job.py": JOB,
    "package/tools.py": "def twice(x):\n    return 2 * x\n",
    "package/constants.py": "C = 1\n",
    "package/lazy.py": "import package.deep.inner\n\n\ndef late(x):\n    return x\n",
    "package/deep/__init__.py": "",
    "package/deep/inner.py": "D = 2\n",
    "package/other.py": "E = 3\n",
}


@pytest.fixture
def job_hash(tmp_path):
    """The hash of package.job in a fresh tree in which some files differ."""

    def compute(**changed):
        root = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, text in (FILES | changed).items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return code_hash(root, ["package.job"])

    return compute


def test_the_closure_has_lazy_imports_modules_imported_as_names_and_packages(tmp_path, job_hash):
    job_hash()
    deep = {"package.deep", "package.deep.inner", "package.lazy"}
    assert import_closure(tmp_path / "0", ["package.job"]) == {
        "package", "package.job", "package.tools", "package.constants", *deep,
    }  # fmt: skip


@pytest.mark.parametrize("name", [name for name in FILES if name != "package/other.py"])
def test_a_statement_in_any_module_of_the_closure_changes_the_hash(job_hash, name):
    assert job_hash(**{name: FILES[name] + "\nF = 4\n"}) != job_hash()


def test_a_statement_in_a_module_that_is_not_imported_changes_nothing(job_hash):
    assert job_hash(**{"package/other.py": "E = 4\n"}) == job_hash()


def test_comments_docstrings_bare_strings_and_layout_change_nothing(job_hash):
    edited = JOB.replace('"""A job."""', "# Another comment.\n").replace("Docstring.", "Other.\n\n    Long.")
    edited = edited.replace("twice(x + constants.C)", "twice(\n        (x + constants.C)\n    )")
    edited = edited.replace("    from package.lazy", '    "a bare string"\n    from package.lazy')
    assert edited != JOB
    assert job_hash(**{"package/job.py": edited}) == job_hash()


def test_a_string_that_is_used_counts(job_hash):
    assert job_hash(**{"package/constants.py": 'C = "a"\n'}) != job_hash(**{"package/constants.py": 'C = "b"\n'})


def test_moving_a_module_changes_the_hash(job_hash):
    edited = JOB.replace("package.tools", "package.tool")
    assert job_hash(**{"package/job.py": edited, "package/tool.py": FILES["package/tools.py"]}) != job_hash()


def test_the_hash_is_the_same_in_every_python_version(tmp_path):
    # Python 3.11 to 3.13 give this number.  Another one here means that every clone would make everything again.
    code = "type_of = type\n\n\nasync def f(x: int = 1, *, y=None) -> str:\n    return f'{x!r:>{y}}'\n"
    (tmp_path / "m.py").write_text(code)
    assert code_hash(tmp_path, ["m"]) == "e45a3a901ab55fa5"


def test_relative_imports_are_refused_because_they_would_not_be_followed(job_hash):
    with pytest.raises(CodeHashError, match=r"tools\.py:1: relative import"):
        job_hash(**{"package/tools.py": "from . import constants\n"})


def test_a_module_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(CodeHashError, match=r"no module package\.gone"):
        code_hash(tmp_path, ["package.gone"])


def test_no_job_depends_on_the_command_line_the_registries_or_the_workflow(laptop):
    for modules in _jobs(laptop):
        closure = import_closure(SRC, modules)
        assert not closure & {f"cvoting.{name}" for name in ("__main__", "recipes", "provenance", "params.study")}
        assert not [name for name in closure if name.endswith("registry")], modules


def test_training_and_rollouts_do_not_depend_on_what_comes_after(laptop):
    later = ("cvoting.tables", "cvoting.voting", "cvoting.figures", "cvoting.statistics")
    for run in laptop.runs:
        assert not [name for name in import_closure(SRC, recipes.train_modules(laptop, run)) if name.startswith(later)]


@pytest.fixture
def laptop():
    return build(Study, yaml.safe_load((SRC.parent / "params.yaml").read_text()))


def _jobs(study):
    yield from (recipes.data_modules(study, dataset) for dataset in study.datasets)
    yield from (recipes.train_modules(study, run) for run in study.runs)
    yield from (recipes.rollouts_modules(study, bank) for bank in study.banks)
    yield from (recipes.voting_modules(study, bank) for bank in study.banks)
    yield from (recipes.figure_modules(figure) for figure in study.figures)
