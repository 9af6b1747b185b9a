"""A study that gives several GPUs to a training: a process for each, which no file that is there depends on."""

import json

import pytest
from rerun_site import CHECKPOINT, training_log

pytestmark = pytest.mark.slow


def test_a_training_with_several_gpus_has_a_process_for_each_and_gpus_are_no_reason_to_train_again(
    copy_project, tmp_path
):
    project = copy_project(tmp_path / "toy")
    project.edit_params(2, "gpus")
    project.snakemake(CHECKPOINT)
    record = json.loads((project.folder / f"{CHECKPOINT}.run.json").read_text())
    assert record["processes"] == 2
    assert training_log(project).count("device: ") == 2
    project.edit_params(0, "gpus")
    assert project.plan(CHECKPOINT) == []
