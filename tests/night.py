"""The number of cases that the nightly run adds to those of the fast run, of each test whose cases take long.

The cases are evenly spaced.  HSGEN_NIGHTLY=all takes every case of every test.
"""

from __future__ import annotations

NIGHT = {
    "cli/test_bundle_spirv.py": {
        "test_modules_are_valid": 4,
    },
    "cli/test_interrupted.py": {
        "test_the_next_run_completes_a_killed_update": 4,
    },
    "cli/test_isolation.py": {
        "test_no_command_imports_from_the_current_folder": 1,
        "test_a_terminated_command_leaves_nothing_behind": 5,
    },
    "cli/test_signals.py": {
        "test_outside_of_the_commands_too": 4,
    },
    "cli/test_untrusted_bundles.py": {
        "test_special_files_are_refused_by_name": 31,
    },
    "compile/test_cuda.py": {
        "test_a_bundle_compiles_without_warnings_and_exports_its_prefix_only": 1,
        "test_every_kernel_compiles_without_spills_on_its_architectures": 10,
    },
    "compile/test_cuda_forms.py": {
        "test_every_kernel_of_a_signature_compiles_with_known_spills": 4,
    },
    "compile/test_cuda_grid.py": {
        "test_keys_are_dealt_out_and_placed": 1,
        "test_one_launch_spills_nothing": 1,
        "test_the_kernels_sort": 3,
        "test_missing_barriers_are_noticed": 1,
    },
    "compile/test_cuda_radix.py": {
        "test_every_ranker_compiles": 8,
    },
    "compile/test_cuda_warnings.py": {
        "test_kernels_compile_without_a_warning": 13,
    },
    "compile/test_legal.py": {
        "test_random_sorts_compile": 21,
    },
    "compile/test_merging_cuda.py": {
        "test_merges_of_runs": 6,
        "test_merges_of_two_arrays": 15,
    },
    "compile/test_baselines_cuda.py": {
        "test_a_baseline_compiles": 1,
    },
    "compile/test_scan_cuda.py": {
        "test_every_kernel_compiles": 39,
    },
    "compile/test_segments_cuda.py": {
        "test_every_kernel_compiles": 18,
    },
    "compile/test_stable_passes.py": {
        "test_every_sequence_of_digits_is_stably_permuted": 25,
    },
    "compile/test_suggested.py": {
        "test_suggested_shapes_do_not_spill": 1,
    },
    "device/test_api_types.py": {
        "test_every_type_with_every_value": 13,
        "test_special_floats_bit_for_bit": 1,
        "test_values_of_plain_keys": 1,
    },
    "device/test_avx512.py": {
        "test_typed_keys_of_a_target_without_subgroups": 2,
    },
    "device/test_bench_parted.py": {
        "test_segments_are_measured": 1,
        "test_the_c_runtime_measures_the_same": 1,
    },
    "device/test_buckets.py": {
        "test_even_keys_need_no_look_back": 2,
        "test_every_kind_of_keys_in_many_buckets": 1,
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
    "device/test_every_form.py": {
        "test_every_way_to_call_a_sort": 11,
    },
    "device/test_handover.py": {
        "test_no_other_sort_races": 12,
    },
    "device/test_kinds.py": {
        "test_through_opencl_in_c": 1,
        "test_through_vulkan_in_c": 1,
        "test_wide_values_through_vulkan": 1,
    },
    "device/test_lookback.py": {
        "test_a_device_that_starves_ends_in_the_right_order": 6,
        "test_tiles_that_publish_late_are_waited_for": 3,
    },
    "device/test_merging.py": {
        "test_rows": 11,
        "test_the_python_api": 6,
        "test_vulkan_merges": 1,
    },
    "device/test_metal.py": {
        "test_sorts": 6,
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
    "device/test_pairs.py": {
        "test_values_stay_with_their_keys": 8,
    },
    "device/test_baselines.py": {
        "test_boost_sorts_on_the_engines_device": 1,
    },
    "device/test_properties.py": {
        "test_any_call_matches_numpy": 4,
    },
    "device/test_rankers.py": {
        "test_sorts": 18,
    },
    "device/test_report_page.py": {
        "test_nothing_is_wider_than_the_window_and_no_text_is_cut": 1,
    },
    "device/test_scanning.py": {
        "test_sums": 37,
        "test_tiles_that_starve_are_done_again": 8,
        "test_vulkan_sums": 1,
    },
    "device/test_segments.py": {
        "test_bad_offsets_change_nothing": 5,
        "test_segments_of_targets": 4,
        "test_short_segments_are_compared_or_ranked": 1,
    },
    "device/test_shapes.py": {
        "test_blocks_that_are_no_power_of_two_sort": 1,
    },
    "device/test_sorted_exit.py": {
        "test_sorted_and_nearly_sorted_keys_are_sorted": 6,
    },
    "device/test_tiny_segments.py": {
        "test_each_way_sorts_and_its_faults_are_seen": 4,
        "test_tiny_segments": 3,
    },
    "device/test_validate.py": {
        "test_generic_sorts_on_a_device_without_subgroups": 1,
        "test_targets_sort_on_the_embedded_device": 1,
    },
    "device/test_vulkan.py": {
        "test_sorts": 4,
        "test_the_example_picks_the_target_that_matches": 1,
    },
    "device/test_vulkan_forms.py": {
        "test_every_way_to_call_a_sort": 9,
    },
    "device/test_vulkan_radix.py": {
        "test_sorts": 5,
    },
    "device/test_webgpu_js.py": {
        "test_sorts_are_right_at_every_width": 3,
        "test_sorts_for_gpus": 4,
    },
    "unit/test_forms.py": {
        "test_parts_of_scratch_never_overlap": 6,
        "test_what_auto_serves": 11,
    },
    "unit/test_radix.py": {
        "test_plans_sort": 48,
    },
    "unit/test_radix_exit.py": {
        "test_sorted_and_nearly_sorted_keys_are_sorted": 6,
    },
    "unit/test_radix_forms.py": {
        "test_every_form_is_sorted": 43,
    },
    "unit/test_report.py": {
        "test_the_launches_of_a_merge_level_cover_its_stages_once": 35,
    },
    "unit/test_subgroup_words.py": {
        "test_random_sorts": 38,
    },
    "unit/test_transaction.py": {
        "test_an_update_that_is_killed_at_any_call_is_healed_by_the_next": 1,
    },
    "vendor/test_fuzzed_runtimes.py": {
        "test_a_wrong_runtime_is_found": 4,
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
