# Trainings: one job per run and training seed.
#
# REQUIRED INPUTS: data/<study>/<dataset>/{train,validation}.npz of the run's dataset
# OUTPUTS:         results/<study>/checkpoints/<run>/seed<training seed>.safetensors, .log.csv
#                  (an unfinished training waits in results/<study>/.partial: Snakemake deletes the outputs of a failed job)


rule stage_train:
    input:
        OUTPUTS["train"],


rule train:
    input:
        train=lambda w: PUZZLES.format(dataset=study.runs[w.run].dataset, split="train"),
        validation=lambda w: PUZZLES.format(dataset=study.runs[w.run].dataset, split="validation"),
    output:
        checkpoint=CHECKPOINT,
        curves=TRAINING_LOG,
    log:
        f"{LOG}/train/{{run}}/seed{{training_seed}}.log",
    benchmark:
        f"{BENCHMARK}/train/{{run}}/seed{{training_seed}}.tsv"
    conda:
        ENVIRONMENT
    threads: study.threads
    resources:
        mem_mb=4000,
        runtime=1440,
    params:
        recipe=lambda w: recipes.train(study, w.run, int(w.training_seed)),
        code=lambda w: code(recipes.train_modules(study, w.run)),
    message:
        "training {wildcards.run} with seed {wildcards.training_seed}"
    shell:
        "python3 -m cvoting train {params.recipe:q} --code {params.code} --threads {threads} "
        "--train {input.train} --validation {input.validation} "
        "--out {output.checkpoint} --log {output.curves} "
        f"--partial {PARTIAL} 2>&1 | tee {{log}}"
