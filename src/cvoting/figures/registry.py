"""The figures by name.  Only `__main__`, the rules and tests read this; a figure is a module.

Each has `prepare`, which computes every number that is drawn, `draw`, which draws them, and for `__main__`
`write(recipe, tables, published, out_dir)`.
"""

from cvoting.figures import (
    extra_adaptive_voting,
    extra_board_calibration,
    extra_compute_scaling,
    extra_confidence_discrimination,
    extra_difficulty,
    extra_selection_rules,
    extra_solved_board,
    fig1_overview,
    fig2_akorn_voting,
    fig3_itrsa_voting,
    fig4_hrm_voting,
    fig5_calibration,
    fig6_confidence_histograms,
    fig7_confidence_steps,
    fig8_itrsa_test_time_scaling,
    fig9_transformer_voting,
    fig10_voting_metrics,
    fig11_seed_dependency,
)

FIGURES = {
    module.NAME: module
    for module in (
        fig1_overview,
        fig2_akorn_voting,
        fig3_itrsa_voting,
        fig4_hrm_voting,
        fig5_calibration,
        fig6_confidence_histograms,
        fig7_confidence_steps,
        fig8_itrsa_test_time_scaling,
        fig9_transformer_voting,
        fig10_voting_metrics,
        fig11_seed_dependency,
        extra_board_calibration,
        extra_confidence_discrimination,
        extra_adaptive_voting,
        extra_selection_rules,
        extra_compute_scaling,
        extra_solved_board,
        extra_difficulty,
    )
}
