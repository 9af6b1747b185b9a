# Voting tables: one job per bank gathers its shards, another those of the steps it lists; numpy only, in seconds.
#
# REQUIRED INPUTS: every shard of the bank, for all training and inference seeds; for steps the first inference seed
# OUTPUTS:         results/<study>/voting/<bank>.csv, <bank>.paired.csv and, of banks with `read_at`, <bank>.steps.csv


rule stage_voting:
    input:
        OUTPUTS["voting"],


rule voting:
    input:
        lambda w: shards(w.bank),
    output:
        table=VOTING,
        paired=OF_BANK["paired"],
    log:
        f"{LOG}/voting/{{bank}}.log",
    benchmark:
        f"{BENCHMARK}/voting/{{bank}}.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        recipe=lambda w: recipes.voting(study, w.bank),
        code=lambda w: code(recipes.voting_modules(study, w.bank)),
    message:
        "voting in {wildcards.bank}"
    shell:
        "python3 -m cvoting voting {params.recipe:q} "
        "--out {output.table} --paired {output.paired} {input} "
        "> {log} 2>&1"


rule steps:
    input:
        lambda w: shards(w.bank, first=["inference_seed"]),
    output:
        OF_BANK["steps"],
    log:
        f"{LOG}/steps/{{bank}}.log",
    benchmark:
        f"{BENCHMARK}/steps/{{bank}}.tsv"
    wildcard_constraints:
        bank=choices(banks_with("steps")),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        recipe=lambda w: recipes.steps(study, w.bank),
        code=lambda w: code(recipes.voting_modules(study, w.bank)),
    message:
        "voting in {wildcards.bank} at the steps it lists"
    shell:
        "python3 -m cvoting steps {params.recipe:q} --out {output} {input} > {log} 2>&1"
