# What the study says in few numbers, and its curves, for DVC's metrics and plots.
#
# REQUIRED INPUTS: results/<study>/{voting,calibration}/<bank>[.<kind>].csv of every bank: votes, calibration errors and
#                  discrimination; results/<study>/checkpoints/<run>/seed<training seed>.log.csv (imported: none)
# OUTPUTS:         results/<study>/metrics.json, results/<study>/plots/{training,voting,calibration}.csv
SUMMARISED = gathered.summary(study)


rule summary:
    input:
        voting=collect(VOTING, bank=SUMMARISED["voting"]),
        calibration=collect(OF_BANK["calibration"], bank=SUMMARISED["calibration"]),
        discrimination=collect(OF_BANK["discrimination"], bank=SUMMARISED["discrimination"]),
        training=[TRAINING_LOG.format(run=run, training_seed=seed) for run, seed in SUMMARISED["training"]],
    output:
        OUTPUTS["summary"],
    log:
        f"{LOG}/summary.log",
    benchmark:
        f"{BENCHMARK}/summary.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        recipe=recipes.summary(study),
        code=code(recipes.summary_modules()),
    message:
        "summarising the study"
    shell:
        "python3 -m cvoting summary {params.recipe:q} "
        "--voting {input.voting} --calibration {input.calibration} --discrimination {input.discrimination} "
        f"--training {{input.training}} --out-dir results/{S} > {{log}} 2>&1"
