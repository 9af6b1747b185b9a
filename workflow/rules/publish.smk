# What the project keeps of a study beside its code: verdicts, figures, tables and training logs, as small files.
#
# REQUIRED INPUTS: the files in results/<study>/
# OUTPUTS:         asked for by name: docs/results/<study>/, the same files and README.md, which shows them
PUBLISHED = [
    *[*OUTPUTS["claims"], METRICS] * bool(study.banks),
    *collect(FIGURE, figure=study.figures, format=["csv", "png"]),
    *collect(TABLE, table=study.tables, format=["csv", "md"]),
    *[file for run in study.runs for file in trainings(run) if file.endswith(".log.csv")],
]


rule publish:
    input:
        PUBLISHED,
    output:
        [f"docs/{file}" for file in PUBLISHED],
        f"docs/results/{S}/README.md",
    log:
        f"{LOG}/publish.log",
    benchmark:
        f"{BENCHMARK}/publish.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    params:
        title=study.title,
        code=code(("cvoting.publish",)),
    message:
        "publishing the results"
    shell:
        f"python3 -m cvoting publish {{params.title:q}} --results results/{S} --out-dir docs/results/{S} {{input}} "
        "> {log} 2>&1"
