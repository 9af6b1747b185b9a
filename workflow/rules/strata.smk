# Results by difficulty: which stratum each puzzle of a tested dataset is in, a table of hashes without boards; and what
# the votes of a bank achieve in each stratum, from its rollouts and that table alone.  Seconds each.
#
# REQUIRED INPUTS: data/<study>/<dataset>/<split>.npz of the splits that models are tested on; every shard of the bank,
#                  for all training and inference seeds
# OUTPUTS:         results/<study>/strata/<dataset>.csv; results/<study>/voting/<bank>.strata.csv, a part of stage_voting
TESTED = recipes.tested(study)


rule stage_strata:
    input:
        OUTPUTS["strata"],


for dataset in TESTED:

    rule:
        name:
            f"strata_{dataset}"
        input:
            collect(PUZZLES, dataset=dataset, split=TESTED[dataset]),
        output:
            STRATA.format(dataset=dataset, format="csv"),
        log:
            f"{LOG}/strata/{dataset}.log",
        benchmark:
            f"{BENCHMARK}/strata/{dataset}.tsv"
        conda:
            ENVIRONMENT
        resources:
            mem_mb=2000,
            runtime=30,
        params:
            recipe=recipes.strata(study, dataset),
            code=code(recipes.strata_modules(study, dataset)),
        message:
            f"grading the puzzles of {dataset}"
        shell:
            "python3 -m cvoting strata {params.recipe:q} --out {output} {input} > {log} 2>&1"


rule by_difficulty:
    input:
        strata=lambda w: STRATA.format(dataset=study.banks[w.bank].dataset, format="csv"),
        shards=lambda w: shards(w.bank),
    output:
        OF_BANK["strata"],
    log:
        f"{LOG}/by_difficulty/{{bank}}.log",
    benchmark:
        f"{BENCHMARK}/by_difficulty/{{bank}}.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        recipe=lambda w: recipes.by_difficulty(study, w.bank),
        code=lambda w: code(recipes.by_difficulty_modules(study, w.bank)),
    message:
        "voting by difficulty in {wildcards.bank}"
    shell:
        "python3 -m cvoting by-difficulty {params.recipe:q} "
        "--strata {input.strata} --out {output} {input.shards} > {log} 2>&1"
