"""The figures by name.  Only `__main__`, the rules and tests read this; a figure is a module.

Each has `prepare`, which computes every number that is drawn, `draw`, which draws them, and for `__main__`
`write(recipe, tables, published, out_dir)`.
"""

from cvoting.figures import fig2_akorn_voting

FIGURES = {"fig2_akorn_voting": fig2_akorn_voting}
