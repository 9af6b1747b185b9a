"""The parameters of a study: one module per stage, so that a job depends only on the blocks it uses."""
