# Audits of the datasets: one job per dataset; a defect fails it, and its log says which.
#
# REQUIRED INPUTS: data/<study>/<dataset>/<split>.npz, for all splits of the dataset, and the training puzzles of other
#                  datasets whose models are tested on it
# OUTPUTS:         results/<study>/audit/<dataset>.csv (one row per split), results/<study>/audit/<dataset>.json


rule stage_audit:
    input:
        OUTPUTS["audit"],


for dataset in study.datasets:

    rule:
        name:
            f"audit_{dataset}"
        input:
            splits=puzzles(dataset),
            trained_on=collect(PUZZLES, dataset=recipes.audit_against(study, dataset), split="train"),
        output:
            table=AUDIT.format(dataset=dataset, format="csv"),
            details=AUDIT.format(dataset=dataset, format="json"),
        log:
            f"{LOG}/audit/{dataset}.log",
        benchmark:
            f"{BENCHMARK}/audit/{dataset}.tsv"
        conda:
            ENVIRONMENT
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            recipe=recipes.audit(study, dataset),
            code=code(recipes.audit_modules(study, dataset)),
        message:
            f"auditing the puzzles of {dataset}"
        shell:
            "python3 -m cvoting audit {input.splits} --against {input.trained_on} --task {params.recipe:q} "
            "--csv {output.table} --json {output.details} > {log} 2>&1"
