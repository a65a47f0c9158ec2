"""The number of cases that the nightly run adds to those of the fast run, of each test.

The cases are evenly spaced.  `MOST` limits the cases of tests that NIGHT does not name.  HSGEN_NIGHTLY=all takes every
case of every test.
"""

from __future__ import annotations

MOST = {"unit": 12, "fuzz": 12}
"""The number of cases by the folder of a test; most of these tests compile nothing."""
OTHERS = 3
"""The number in all other folders, whose tests compile kernels or start programs."""

NIGHT = {
    "cli/test_isolation.py": {
        "test_no_command_imports_from_the_current_folder": 1,
    },
    "compile/test_baselines_cuda.py": {
        "test_a_baseline_compiles": 1,
    },
    "compile/test_cuda.py": {
        "test_a_bundle_compiles_without_warnings_and_exports_its_prefix_only": 1,
    },
    "compile/test_cuda_grid.py": {
        "test_keys_are_dealt_out_and_placed": 1,
        "test_one_launch_spills_nothing": 1,
        "test_missing_barriers_are_noticed": 1,
    },
    "compile/test_hip.py": {
        "test_sorts": 1,
    },
    "compile/test_stable_passes.py": {
        "test_every_sequence_of_digits_is_stably_permuted": 12,
        "test_a_pass_that_is_not_stable_is_noticed": 30,
    },
    "compile/test_suggested.py": {
        "test_suggested_shapes_do_not_spill": 1,
    },
    "compile/test_wgsl_compilers.py": {
        "test_the_sorts_of_generated_are_accepted_or_listed": 1,
    },
    "device/test_api_types.py": {
        "test_special_floats_bit_for_bit": 1,
        "test_values_of_plain_keys": 1,
    },
    "device/test_avx512.py": {
        "test_typed_keys_of_a_target_without_subgroups": 2,
    },
    "device/test_baselines.py": {
        "test_boost_sorts_on_the_engines_device": 1,
    },
    "device/test_bench_parted.py": {
        "test_segments_are_measured": 1,
        "test_the_c_runtime_measures_the_same": 1,
        "test_merges_are_measured": 1,
        "test_packs_are_timed_beside_those_of_numpy": 1,
        "test_wrong_results_are_not_timed": 1,
        "test_the_cost_of_run_boundaries_is_measured": 1,
    },
    "device/test_buckets.py": {
        "test_even_keys_need_no_look_back": 2,
        "test_every_kind_of_keys_in_many_buckets": 1,
        "test_uneven_keys_are_left_to_look_back": 1,
    },
    "device/test_changes.py": {
        "test_runs_of_equal_keys_are_reported": 2,
    },
    "device/test_checks.py": {
        "test_large_counts_are_checked_on_the_device": 1,
    },
    "device/test_epilogues.py": {
        "test_keys_can_be_changed_as_they_are_stored": 1,
        "test_validation_checks_the_report_of_an_epilogue": 1,
    },
    "device/test_exchanges.py": {
        "test_other_words_are_noticed": 1,
    },
    "device/test_few_lanes.py": {
        "test_results_are_right": 2,
    },
    "device/test_gathering.py": {
        "test_vulkan_gathers": 1,
    },
    "device/test_group_tables.py": {
        "test_other_keys_are_sorted": 2,
    },
    "device/test_grouping.py": {
        "test_vulkan_reduces": 1,
        "test_the_command_line_validates_reductions": 1,
    },
    "device/test_handover.py": {
        "test_what_is_handed_over_is_ordered": 30,
        "test_hip_orders_it_too": 30,
        "test_groupings_hand_over_in_order": 30,
        "test_without_order_there_is_a_race": 30,
        "test_no_other_sort_races": 6,
    },
    "device/test_kinds.py": {
        "test_through_opencl_in_c": 1,
        "test_through_vulkan_in_c": 1,
        "test_wide_values_through_vulkan": 1,
    },
    "device/test_merging.py": {
        "test_vulkan_merges": 1,
    },
    "device/test_oclgrind.py": {
        "test_nothing_is_reported_of_sorts_with_values": 1,
    },
    "device/test_only_offset.py": {
        "test_by_the_python_api": 2,
    },
    "device/test_pair_buckets.py": {
        "test_even_keys_need_no_further_pass": 2,
        "test_every_kind_type_order_and_count": 2,
    },
    "device/test_report_page.py": {
        "test_nothing_is_wider_than_the_window_and_no_text_is_cut": 1,
    },
    "device/test_scanning.py": {
        "test_vulkan_sums": 1,
    },
    "device/test_segments.py": {
        "test_short_segments_are_compared_or_ranked": 1,
    },
    "device/test_selecting.py": {
        "test_the_command_line_validates_selections": 1,
        "test_vulkan_selects": 1,
    },
    "device/test_shapes.py": {
        "test_blocks_that_are_no_power_of_two_sort": 1,
    },
    "device/test_validate.py": {
        "test_generic_sorts_on_a_device_without_subgroups": 1,
        "test_targets_sort_on_the_embedded_device": 1,
    },
    "device/test_vulkan.py": {
        "test_the_example_picks_the_target_that_matches": 1,
    },
    "device/test_vulkan_first.py": {
        "test_every_call_is_right_before_and_after": 1,
    },
    "device/test_webgpu_js.py": {
        "test_operations_other_than_sorts": 1,
        "test_sorts_for_gpus": 1,
    },
    "unit/test_code_sizes.py": {
        "test_spirv_of_every_target_is_small": 30,
    },
    "unit/test_forms.py": {
        "test_parts_of_scratch_never_overlap": 6,
        "test_what_auto_serves": 11,
    },
    "unit/test_proofs.py": {
        "test_spin_verifies_each_bound_and_refuses_each_mutant": 60,
    },
    "unit/test_radix_exit.py": {
        "test_sorted_and_nearly_sorted_keys_are_sorted": 6,
    },
    "unit/test_scratch_proof.py": {
        "test_no_parts_of_scratch_overlap_for_any_count": 20,
    },
    "unit/test_smt_proofs.py": {
        "test_a_mutant_is_refuted_with_a_counterexample": 30,
    },
    "unit/test_transaction.py": {
        "test_an_update_that_is_killed_at_any_call_is_healed_by_the_next": 1,
    },
    "vendor/test_interpreter.py": {
        "test_same_launches": 1,
    },
    "vendor/test_recording.py": {
        "test_every_forgotten_barrier_is_found": 1,
        "test_every_sort_is_recorded_as_planned": 1,
    },
    "vendor/test_symbols.py": {
        "test_symbols_start_with_the_prefix": 1,
    },
}
"""The tests with another number: fewer cases of the slowest; all cases of planted faults, and of proofs that the
documents call whole."""
