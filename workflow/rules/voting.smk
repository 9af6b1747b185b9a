# Voting tables: one job per bank gathers its shards; numpy only, in seconds.
#
# REQUIRED INPUTS: every shard of the bank, for all training and inference seeds
# OUTPUTS:         results/<study>/voting/<bank>.csv, results/<study>/voting/<bank>.paired.csv


rule stage_voting:
    input:
        OUTPUTS["voting"],


rule voting:
    input:
        lambda w: shards(w.bank),
    output:
        table=VOTING,
        paired=PAIRED,
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
