# Puzzles: the published files, and the datasets made from them or generated.
#
# REQUIRED INPUTS: for datasets made from published files, a folder that has them (`mirrors` or CVOTING_MIRROR)
# OUTPUTS:         data/raw/<file>, data/<study>/<dataset>/<split>.npz
from cvoting.data.sources import FILES


rule stage_data:
    input:
        OUTPUTS["data"],


for file in sorted({file for dataset in study.datasets.values() for file in dataset.source.files}):

    rule:
        name:
            f"fetch_{file}"
        output:
            ensure(f"{RAW}/{FILES[file].path}", sha256=FILES[file].sha256),
        log:
            f"{LOG}/fetch/{file}.log",
        benchmark:
            f"{BENCHMARK}/fetch/{file}.tsv"
        retries: 2
        conda:
            ENVIRONMENT
        params:
            recipe=file,
            code=FILES[file].sha256,
        message:
            f"fetching {FILES[file].about}"
        shell:
            "python3 -m cvoting fetch {params.recipe} --out {output} > {log} 2>&1"


for dataset in study.datasets:

    rule:
        name:
            f"data_{dataset}"
        input:
            [f"{RAW}/{FILES[name].path}" for name in study.datasets[dataset].source.files],
        output:
            puzzles(dataset),
        log:
            f"{LOG}/data/{dataset}.log",
        benchmark:
            f"{BENCHMARK}/data/{dataset}.tsv"
        conda:
            ENVIRONMENT
        resources:
            mem_mb=1000,
            runtime=30,
        params:
            recipe=recipes.data(study, dataset),
            code=code(recipes.data_modules(study, dataset)),
        message:
            f"making the puzzles of {dataset}"
        # A shell command is put together when the job runs, and then `dataset` is the last one of the loop.
        shell:
            "python3 -m cvoting data {params.recipe:q} "
            f"--raw {RAW} --out $(dirname {{output}} | uniq) > {{log}} 2>&1"
