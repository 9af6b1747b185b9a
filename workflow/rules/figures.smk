# Figures: one rule, one module and one caption each; figures/ has copies of those of params.yaml's study.  The phase
# makes the paper's tables, the summary of the study and the verdicts on the claims too.
#
# REQUIRED INPUTS: results/<study>/{voting,calibration}/<bank>[.<kind>].csv of its banks, reference/published.csv
# OUTPUTS:         results/<study>/figures/<figure>.{pdf,png,csv}, figures/<figure>.{pdf,png}


rule stage_figures:
    input:
        OUTPUTS["figures"],
        OUTPUTS["tables"],
        OUTPUTS["summary"],
        OUTPUTS["claims"],


for figure, block in study.figures.items():

    rule:
        name:
            figure
        input:
            tables=[file for kind in block.tables for file in collect(OF_BANK[kind], bank=block.banks)],
            published="reference/published.csv",
        output:
            report(
                FIGURE.format(figure=figure, format="png"),
                caption=f"../report/{figure}.rst",
                category="Figures",
                subcategory="beyond the paper" if figure.startswith("extra_") else "of the paper",
                labels={"figure": figure},
            ),
            FIGURE.format(figure=figure, format="pdf"),
            FIGURE.format(figure=figure, format="csv"),
        log:
            f"{LOG}/figures/{figure}.log",
        benchmark:
            f"{BENCHMARK}/figures/{figure}.tsv"
        localrule: True
        conda:
            ENVIRONMENT
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            recipe=recipes.figure(study, figure),
            code=code(recipes.figure_modules(figure)),
        message:
            f"drawing {figure}"
        shell:
            "python3 -m cvoting figure {params.recipe:q} "
            "--published {input.published} "
            f"--out-dir results/{S}/figures "
            "{input.tables} > {log} 2>&1"


rule copy_figure:
    input:
        figures_to_copy,
    output:
        collect(COPY, format=["pdf", "png"], allow_missing=True),
    log:
        f"{LOG}/copy_figure/{{figure}}.log",
    benchmark:
        f"{BENCHMARK}/copy_figure/{{figure}}.tsv"
    localrule: True
    conda:
        ENVIRONMENT
    message:
        "copying {wildcards.figure} to figures/"
    shell:
        "cp {input} figures/ 2> {log}"
