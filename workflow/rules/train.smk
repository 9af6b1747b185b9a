# Trainings: one job per run and training seed.  Of runs with the block `imported` a file of weights takes their place.
#
# REQUIRED INPUTS: data/<study>/<dataset>/{train,validation}.npz of the run's dataset, or the file that the run names
# OUTPUTS:         results/<study>/checkpoints/<run>/seed<training seed>.safetensors, .log.csv (imported: none)
#                  (an unfinished training waits in results/<study>/.partial: Snakemake deletes the outputs of a failed job)
from cvoting.resources import of_trainings

TRAINING = of_trainings(study, counts)


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
    wildcard_constraints:
        run=choices(TRAINING),
    conda:
        ENVIRONMENT
    threads: study.threads
    resources:
        gpu=lambda w: TRAINING[w.run].gpu,
        cpus_per_task=lambda w: TRAINING[w.run].threads,
        mem_mb=lambda w, attempt: attempt * TRAINING[w.run].mem_mb,
        runtime=lambda w, attempt: attempt * TRAINING[w.run].runtime,
    params:
        recipe=lambda w: recipes.train(study, w.run, int(w.training_seed)),
        code=lambda w: code(recipes.train_modules(study, w.run)),
    message:
        "training {wildcards.run} with seed {wildcards.training_seed}"
    shell:
        "python3 -m cvoting train {params.recipe:q} --code {params.code} --threads {threads} "
        "--train {input.train} --validation {input.validation} "
        "--out {output.checkpoint} --curves {output.curves} "
        f"--partial {PARTIAL} 2>&1 | tee {{log}}"


rule import_run:
    input:
        lambda w: study.runs[w.run].imported.file,
    output:
        CHECKPOINT,
    log:
        f"{LOG}/import/{{run}}/seed{{training_seed}}.log",
    benchmark:
        f"{BENCHMARK}/import/{{run}}/seed{{training_seed}}.tsv"
    wildcard_constraints:
        run=choices(set(study.runs) - set(TRAINING)),
    localrule: True
    conda:
        ENVIRONMENT
    params:
        recipe=lambda w: recipes.import_run(study, w.run, int(w.training_seed)),
        code=lambda w: code(recipes.import_run_modules(study, w.run)),
    message:
        "importing {wildcards.run} from {input}"
    shell:
        "python3 -m cvoting import-run {params.recipe:q} --code {params.code} --file {input:q} --out {output} "
        "2>&1 | tee {log}"
