# Puzzles: the published files, and the datasets made from them or generated.
#
# REQUIRED INPUTS: for datasets made from published files, a folder that has them (`mirrors` or CVOTING_MIRROR) or the
#                  network; the user's own CSV files
# OUTPUTS:         data/raw/<file>, data/<study>/<dataset>/<split>.npz
from cvoting.data.sources import FILES
from cvoting.params.datasets import accepted_checksums

ACCEPTED = accepted_checksums(study.datasets)


rule stage_data:
    input:
        OUTPUTS["data"],


for file in sorted(ACCEPTED):
    # A file is what its checksum says, so neither its mirror nor the code that brings it makes a difference.
    source = FILES[file].accepting(ACCEPTED[file])

    rule:
        name:
            f"fetch_{file}"
        output:
            ensure(f"{RAW}/{source.path}", non_empty=True, sha256=source.sha256),
        log:
            f"{LOG}/fetch/{file}.log",
        benchmark:
            f"{BENCHMARK}/fetch/{file}.tsv"
        localrule: True  # where jobs run there may be no network
        conda:
            ENVIRONMENT
        params:
            recipe=f"{file} --sha256 {source.sha256}" if source.replaced else file,
            code=source.identity,
        message:
            f"fetching {source.about}"
        shell:
            "python3 -m cvoting fetch {params.recipe} --out {output} 2>&1 | tee {log}"


for dataset in study.datasets:

    rule:
        name:
            f"data_{dataset}"
        input:
            [f"{RAW}/{FILES[name].path}" for name in study.datasets[dataset].source.files],
            study.datasets[dataset].local_files,
        output:
            puzzles(dataset),
        log:
            f"{LOG}/data/{dataset}.log",
        benchmark:
            f"{BENCHMARK}/data/{dataset}.tsv"
        conda:
            ENVIRONMENT
        resources:
            mem_mb=1000 + 4 * sum(FILES[name].bytes for name in study.datasets[dataset].source.files) // 10**6,
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
