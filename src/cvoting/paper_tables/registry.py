"""The tables of the paper by name.  Only `__main__`, the rules and tests read this; a table is a module.

Each has `NAME` and `write(recipe, inputs, published, out_dir)`.
"""

from cvoting.paper_tables import extra_selection_rules, table1_itrsa, table2_hrm, table3_akorn, table4_ablation

PAPER_TABLES = {
    module.NAME: module for module in (table1_itrsa, table2_hrm, table3_akorn, table4_ablation, extra_selection_rules)
}
