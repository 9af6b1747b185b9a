# What is said of confidence: one job per bank and kind of table; numpy only, in seconds.
#
# REQUIRED INPUTS: the shards of the bank's first inference seed; for single candidates of its first training seed alone
# OUTPUTS:         results/<study>/calibration/<bank>.{calibration,reliability,risk}.csv of banks that keep logits,
#                  <bank>.discrimination.csv of those of several candidates, <bank>.trajectories.csv of those read out,
#                  <bank>.solved_board.csv of those of Sudoku


rule stage_calibration:
    input:
        OUTPUTS["calibration"],


rule calibration:
    input:
        lambda w: shards(w.bank, first=["inference_seed"]),
    output:
        table=OF_BANK["calibration"],
        reliability=OF_BANK["reliability"],
        risk=OF_BANK["risk"],
    log:
        f"{LOG}/calibration/{{bank}}.log",
    benchmark:
        f"{BENCHMARK}/calibration/{{bank}}.tsv"
    wildcard_constraints:
        bank=choices(banks_with("calibration")),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        recipe=lambda w: recipes.calibration(study, w.bank),
        code=lambda w: code(recipes.calibration_modules(study, w.bank)),
    message:
        "calibration of {wildcards.bank}"
    shell:
        "python3 -m cvoting calibration {params.recipe:q} "
        "--out {output.table} --reliability {output.reliability} --risk {output.risk} {input} "
        "> {log} 2>&1"


rule discrimination:
    input:
        lambda w: shards(w.bank, first=["inference_seed"]),
    output:
        OF_BANK["discrimination"],
    log:
        f"{LOG}/discrimination/{{bank}}.log",
    benchmark:
        f"{BENCHMARK}/discrimination/{{bank}}.tsv"
    wildcard_constraints:
        bank=choices(banks_with("discrimination")),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        recipe=lambda w: recipes.discrimination(study, w.bank),
        code=lambda w: code(recipes.discrimination_modules(study, w.bank)),
    message:
        "what confidence tells in {wildcards.bank}"
    shell:
        "python3 -m cvoting discrimination {params.recipe:q} --out {output} {input} > {log} 2>&1"


rule trajectories:
    input:
        lambda w: shards(w.bank, first=["training_seed", "inference_seed"]),
    output:
        OF_BANK["trajectories"],
    log:
        f"{LOG}/trajectories/{{bank}}.log",
    benchmark:
        f"{BENCHMARK}/trajectories/{{bank}}.tsv"
    wildcard_constraints:
        bank=choices(banks_with("trajectories")),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        recipe=lambda w: recipes.trajectories(study, w.bank),
        code=lambda w: code(recipes.trajectories_modules(study, w.bank)),
    message:
        "confidence against steps in {wildcards.bank}"
    shell:
        "python3 -m cvoting trajectories {params.recipe:q} --out {output} {input} > {log} 2>&1"


rule solved_board:
    input:
        lambda w: shards(w.bank, first=["training_seed", "inference_seed"]),
    output:
        OF_BANK["solved_board"],
    log:
        f"{LOG}/solved_board/{{bank}}.log",
    benchmark:
        f"{BENCHMARK}/solved_board/{{bank}}.tsv"
    wildcard_constraints:
        bank=choices(banks_with("solved_board")),
    conda:
        ENVIRONMENT
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        recipe=lambda w: recipes.solved_board(study, w.bank),
        code=lambda w: code(recipes.solved_board_modules(study, w.bank)),
    message:
        "a solved board of {wildcards.bank}"
    shell:
        "python3 -m cvoting solved-board {params.recipe:q} --out {output} {input} > {log} 2>&1"
