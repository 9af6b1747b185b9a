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
        recipe=recipes.publish(study),
        code=code(recipes.publish_modules()),
    message:
        "publishing the results"
    shell:
        f"python3 -m cvoting publish {{params.recipe:q}} --results results/{S} --out-dir docs/results/{S} {{input}} "
        "> {log} 2>&1"
