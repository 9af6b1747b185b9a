# C-Voting, from puzzles to figures.  `snakemake --cores all` makes everything of the study in params.yaml;
# `snakemake --cores all --configfile params/toy.yaml` makes another study; `snakemake --list` shows the phases.
from snakemake.utils import min_version

min_version("9.27")


# A --configfile is merged over this one: a complete study must take its place instead, a few changed keys need it.
if "study" not in config:

    configfile: "params.yaml"


report: "workflow/report/workflow.rst"


PHASES = "data audit strata train rollouts voting scaling adaptive calibration figures tables summary claims publish"
for part in ("common", "provenance", *PHASES.split()):

    include: f"workflow/rules/{part}.smk"


onsuccess:
    provenance.export()


onerror:
    provenance.export()


rule all:
    default_target: True
    input:
        rules.stage_audit.input,
        rules.stage_voting.input,
        rules.stage_calibration.input,
        rules.stage_figures.input,
