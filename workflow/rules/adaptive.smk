# Adaptive voting: one job per bank of several candidates draws them until a rule to stop holds; numpy only, in seconds.
#
# REQUIRED INPUTS: the shards of the bank's first inference seed
# OUTPUTS:         results/<study>/voting/<bank>.adaptive.csv, a part of stage_voting


rule adaptive:
    input:
        lambda w: shards(w.bank, first=["inference_seed"]),
    output:
        OF_BANK["adaptive"],
    log:
        f"{LOG}/adaptive/{{bank}}.log",
    benchmark:
        f"{BENCHMARK}/adaptive/{{bank}}.tsv"
    wildcard_constraints:
        bank=choices(banks_with("adaptive")),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        recipe=lambda w: recipes.adaptive(study, w.bank),
        code=lambda w: code(recipes.adaptive_modules(study, w.bank)),
    message:
        "voting adaptively in {wildcards.bank}"
    shell:
        "python3 -m cvoting adaptive {params.recipe:q} --out {output} {input} > {log} 2>&1"
