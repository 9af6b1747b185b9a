# The verdict on every claim of the paper, and on what it leaves open, by rules that are the same for all studies.
#
# REQUIRED INPUTS: results/<study>/{voting,calibration}/<bank>[.<kind>].csv of the banks that claims are about, the first
#                  checkpoint of each model (its parameters are counted), reference/{published,field}.csv
# OUTPUTS:         results/<study>/claims.csv, claims.md
CLAIMED = gathered.claims(study)


rule claims:
    input:
        voting=collect(VOTING, bank=CLAIMED["tables"]["voting"]),
        paired=collect(OF_BANK["paired"], bank=CLAIMED["tables"]["paired"]),
        steps=collect(OF_BANK["steps"], bank=CLAIMED["tables"]["steps"]),
        calibration=collect(OF_BANK["calibration"], bank=CLAIMED["tables"]["calibration"]),
        discrimination=collect(OF_BANK["discrimination"], bank=CLAIMED["tables"]["discrimination"]),
        trajectories=collect(OF_BANK["trajectories"], bank=CLAIMED["tables"]["trajectories"]),
        checkpoints=[CHECKPOINT.format(run=run, training_seed=seed) for run, seed in CLAIMED["counted"].values()],
        published="reference/published.csv",
        field="reference/field.csv",
    output:
        report(OUTPUTS["claims"][0], caption="../report/claims.rst", category="Claims"),
        report(OUTPUTS["claims"][1], caption="../report/claims.rst", category="Claims"),
    log:
        f"{LOG}/claims.log",
    benchmark:
        f"{BENCHMARK}/claims.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        recipe=recipes.claims(study),
        code=code(recipes.claims_modules()),
    message:
        "judging the claims"
    shell:
        "python3 -m cvoting claims {params.recipe:q} --published {input.published} --field {input.field} "
        "--voting {input.voting} --paired {input.paired} --steps {input.steps} --calibration {input.calibration} "
        "--discrimination {input.discrimination} --trajectories {input.trajectories} "
        f"--checkpoints {{input.checkpoints}} --out-dir results/{S} > {{log}} 2>&1"
