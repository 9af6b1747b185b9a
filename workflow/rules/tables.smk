# The paper's tables and one beyond it: one rule, one module and one caption each, as CSV, Markdown and LaTeX.  The
# rules are not called like their tables: a figure of the same name, which shares its caption, has that name.
#
# REQUIRED INPUTS: results/<study>/voting/<bank>[.paired].csv of the table's banks, reference/{published,hyperparameters}.csv
# OUTPUTS:         results/<study>/tables/<table>.{csv,md,tex}


for table, block in study.tables.items():

    rule:
        name:
            f"make_{table}"
        input:
            voting=[file for kind in block.tables for file in collect(OF_BANK[kind], bank=block.banks)],
            published=block.published,
        output:
            report(
                TABLE.format(table=table, format="csv"),
                caption=f"../report/{table}.rst",
                category="Tables",
                subcategory="beyond the paper" if table.startswith("extra_") else "of the paper",
                labels={"table": table},
            ),
            TABLE.format(table=table, format="md"),
            TABLE.format(table=table, format="tex"),
        log:
            f"{LOG}/tables/{table}.log",
        benchmark:
            f"{BENCHMARK}/tables/{table}.tsv"
        localrule: True
        conda:
            ENVIRONMENT
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            recipe=recipes.table(study, table),
            code=code(recipes.table_modules(table)),
        message:
            f"making {table}"
        shell:
            "python3 -m cvoting table {params.recipe:q} "
            "--published {input.published} --voting {input.voting} "
            f"--out-dir results/{S}/tables > {{log}} 2>&1"
