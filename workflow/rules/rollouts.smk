# Rollouts: one job per bank, training seed, inference seed and shard.
#
# REQUIRED INPUTS: the checkpoint of the bank's run, data/<study>/<dataset>/<split>.npz of the bank
# OUTPUTS:         results/<study>/rollouts/<bank>/train<training seed>-infer<inference seed>/shard<shard>.parquet
from cvoting.resources import of_rollouts

ROLLOUTS = of_rollouts(study, counts)


rule stage_rollouts:
    input:
        OUTPUTS["rollouts"],


rule rollouts:
    input:
        checkpoint=lambda w: CHECKPOINT.format(run=study.banks[w.bank].run, training_seed=w.training_seed),
        puzzles=lambda w: PUZZLES.format(dataset=study.banks[w.bank].dataset, split=study.banks[w.bank].split),
    output:
        SHARD,
    log:
        f"{LOG}/rollouts/{{bank}}/train{{training_seed}}-infer{{inference_seed}}/shard{{shard}}.log",
    benchmark:
        f"{BENCHMARK}/rollouts/{{bank}}/train{{training_seed}}-infer{{inference_seed}}/shard{{shard}}.tsv"
    conda:
        ENVIRONMENT
    threads: study.threads
    resources:
        gpu=lambda w: ROLLOUTS[w.bank].gpu,
        cpus_per_task=lambda w: ROLLOUTS[w.bank].threads,
        mem_mb=lambda w, attempt: attempt * ROLLOUTS[w.bank].mem_mb,
        runtime=lambda w, attempt: attempt * ROLLOUTS[w.bank].runtime,
    params:
        recipe=lambda w: recipes.rollouts(study, w.bank, int(w.inference_seed), int(w.shard)),
        code=lambda w: code(recipes.rollouts_modules(study, w.bank)),
    message:
        "rolling out {wildcards.bank}: training seed {wildcards.training_seed}, "
        "inference seed {wildcards.inference_seed}, shard {wildcards.shard}"
    shell:
        "python3 -m cvoting rollouts {params.recipe:q} --code {params.code} --threads {threads} "
        "--checkpoint {input.checkpoint} --puzzles {input.puzzles} --out {output} "
        f"--partial {PARTIAL} 2>&1 | tee {{log}}"
