# What accuracy costs: one job per bank with `read_at`, of every number of candidates and steps; numpy only, in seconds.
#
# REQUIRED INPUTS: the shards of the bank's first inference seed, of all training seeds
# OUTPUTS:         results/<study>/voting/<bank>.scaling.csv


rule scaling:
    input:
        lambda w: shards(w.bank, first=["inference_seed"]),
    output:
        OF_BANK["scaling"],
    log:
        f"{LOG}/scaling/{{bank}}.log",
    benchmark:
        f"{BENCHMARK}/scaling/{{bank}}.tsv"
    wildcard_constraints:
        bank=choices(banks_with("scaling")),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        recipe=lambda w: recipes.scaling(study, w.bank),
        code=lambda w: code(recipes.scaling_modules(study, w.bank)),
    message:
        "accuracy against cost in {wildcards.bank}"
    shell:
        "python3 -m cvoting scaling {params.recipe:q} --out {output} {input} > {log} 2>&1"
