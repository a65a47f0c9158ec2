"""The number of cases that the fast run takes of each slow test; the nightly run takes more, see `night.py`.

The cases are evenly spaced.  0: the test runs only nightly.
"""

from __future__ import annotations

FAST = {
    "cli/test_bundle_spirv.py": {
        "test_a_bundle_keeps_its_prefix": 0,
        "test_another_prefix_changes_all_targets": 0,
        "test_modules_are_of_the_version_that_the_target_names": 1,
    },
    "cli/test_bundle_trust.py": {
        "test_commands_succeed_with_a_trusted_epilogue": 0,
        "test_only_spirv_words_are_trusted": 3,
    },
    "cli/test_bundles.py": {
        "test_a_narrower_choice_adds_and_removes_nothing": 0,
        "test_order_of_targets_does_not_matter": 0,
        "test_output_does_not_depend_on_the_machine": 0,
        "test_targets_from_a_file": 0,
        "test_the_committed_bundle_is_up_to_date": 0,
        "test_without_targets_a_bundle_is_refreshed_with_its_own_choices": 0,
    },
    "cli/test_cache.py": {
        "test_calls_find_all_kernels_that_were_compiled_ahead": 0,
    },
    "cli/test_choosing.py": {
        "test_a_bundle_holds_exactly_the_requested_sorts": 2,
        "test_bench_checks_keys_and_values": 1,
        "test_bench_measures_features": 1,
        "test_bench_measures_keys_with_values": 0,
        "test_validate_runs_each_requested_sort": 0,
    },
    "cli/test_compile_errors.py": {
        "test_a_kernel_that_fails_is_an_error_and_the_others_have_numbers": 2,
    },
    "cli/test_epilogue_bundles.py": {
        "test_a_bundle_keeps_its_epilogue": 0,
        "test_mistakes_get_one_line": 6,
    },
    "cli/test_interrupted.py": {
        "test_a_signal_ends_it_in_one_line": 1,
    },
    "cli/test_isolation.py": {
        "test_a_driver_that_does_not_return_does_not_keep_the_process": 1,
        "test_a_terminated_command_leaves_nothing_behind": 1,
        "test_children_import_nothing_from_the_current_folder": 2,
    },
    "cli/test_max_n.py": {
        "test_more_keys_are_refused": 1,
    },
    "cli/test_target_list.py": {
        "test_a_terminal_shows_a_line_for_each_target": 1,
    },
    "cli/test_terminal.py": {
        "test_colours_can_be_turned_off": 3,
        "test_doctor_and_bench_fit_the_terminal": 0,
        "test_output_fits_the_terminal": 2,
    },
    "cli/test_undecodable_files.py": {
        "test_generated_files_in_another_encoding": 2,
    },
    "compile/test_baselines_cuda.py": {
        "test_a_baseline_compiles": 0,
        "test_a_baseline_gets_its_input": 1,
    },
    "compile/test_compile.py": {
        "test_a_shape_that_spills_is_found": 0,
        "test_a_sort_of_each_compiler": 1,
    },
    "compile/test_cuda.py": {
        "test_a_bundle_compiles_without_warnings_and_exports_its_prefix_only": 0,
        "test_every_kernel_compiles_without_spills_on_its_architectures": 1,
        "test_the_runtime_launches_the_plan_and_refuses_what_is_wrong": 1,
    },
    "compile/test_cuda_forms.py": {
        "test_every_kernel_of_a_signature_compiles_with_known_spills": 1,
    },
    "compile/test_cuda_grid.py": {
        "test_equal_keys_keep_their_order": 1,
        "test_keys_are_dealt_out_and_placed": 0,
        "test_larger_samples": 0,
        "test_missing_barriers_are_noticed": 1,
        "test_one_launch_spills_nothing": 1,
        "test_the_kernels_sort": 1,
        "test_uneven_keys_are_dealt_out_by_a_sample": 0,
    },
    "compile/test_cuda_python.py": {
        "test_argsorts_of_floats_spill_nothing": 0,
        "test_every_kernel_compiles_in_numeric_order": 0,
        "test_one_sort_compiles_in_numeric_order": 0,
        "test_other_operations_compile": 2,
        "test_selections_in_numeric_order_compile": 0,
    },
    "compile/test_cuda_radix.py": {
        "test_ballots_in_large_tiles_spill_nothing": 2,
        "test_buckets_of_pairs_spill_nothing": 2,
        "test_buckets_spill_nothing": 1,
        "test_every_ranker_compiles": 2,
    },
    "compile/test_cuda_warnings.py": {
        "test_kernels_compile_without_a_warning": 1,
    },
    "compile/test_exchanges_offline.py": {
        "test_amd": 1,
        "test_cuda_on_the_host": 1,
        "test_wgsl": 1,
    },
    "compile/test_finish_on_host.py": {
        "test_indices_are_widened_and_bits_given_back": 2,
    },
    "compile/test_hip.py": {
        "test_sorts": 0,
        "test_the_example_sorts": 0,
        "test_wavefronts_that_are_too_narrow_are_refused": 0,
    },
    "compile/test_hlsl.py": {
        "test_kernels_compile_to_dxil_and_to_spirv": 1,
        "test_the_program_compiles_for_windows": 0,
    },
    "compile/test_legal.py": {
        "test_keys_in_order_are_found_out_by_a_part_of_their_bits": 4,
        "test_random_sorts_compile": 2,
    },
    "compile/test_merging_cuda.py": {
        "test_merges_of_runs": 1,
        "test_merges_of_two_arrays": 3,
    },
    "compile/test_metal_text.py": {
        "test_a_host_sees_the_same_kernels": 0,
    },
    "compile/test_scan_cuda.py": {
        "test_every_kernel_compiles": 3,
    },
    "compile/test_segments_cuda.py": {
        "test_every_kernel_compiles": 1,
    },
    "compile/test_stable_passes.py": {
        "test_a_pass_that_is_not_stable_is_noticed": 1,
        "test_every_sequence_of_digits_is_stably_permuted": 1,
    },
    "compile/test_suggested.py": {
        "test_suggested_shapes_do_not_spill": 0,
    },
    "compile/test_wgsl_compilers.py": {
        "test_a_fault_is_found": 2,
        "test_every_kernel_of_the_targets_is_accepted": 0,
        "test_every_kernel_that_wgsl_can_express_is_accepted": 0,
        "test_kernels_of_each_operation_are_accepted": 1,
        "test_the_sorts_of_generated_are_accepted_or_listed": 0,
    },
    "device/test_api.py": {
        "test_numpy_types_name_keys": 0,
    },
    "device/test_api_faces.py": {
        "test_a_queue_and_arrays_are_needed": 1,
    },
    "device/test_api_trial.py": {
        "test_a_text_is_tried_once": 0,
        "test_optimization_can_be_left_out": 0,
    },
    "device/test_api_types.py": {
        "test_every_type_with_every_value": 1,
        "test_special_floats_bit_for_bit": 1,
        "test_values_of_plain_keys": 1,
    },
    "device/test_api_values.py": {
        "test_counts_around_the_change_of_algorithm": 1,
        "test_equal_keys_keep_their_order": 1,
        "test_greatest_keys_lose_no_value": 1,
        "test_misuse_is_refused_and_writes_nothing": 1,
    },
    "device/test_avx512.py": {
        "test_kernels_that_crash_the_compiler_are_built_without_optimization": 0,
    },
    "device/test_baselines.py": {
        "test_a_device_that_the_loader_does_not_show_is_one_line": 0,
        "test_a_killed_numpy_process_is_one_line": 2,
        "test_baselines_of_the_host_sort": 2,
        "test_boost_sorts_on_the_engines_device": 0,
        "test_pyopencl_sorts": 1,
    },
    "device/test_bench_alternatives.py": {
        "test_candidates_sort_the_same": 0,
        "test_candidates_take_turns": 0,
        "test_csv_has_the_fields_of_json": 0,
        "test_the_command_measures_candidates": 0,
        "test_the_table_has_a_part_for_each_sort": 0,
    },
    "device/test_bench_parted.py": {
        "test_a_plain_candidate_does_without_features": 0,
        "test_cub_needs_cuda": 1,
        "test_merges_are_measured": 0,
        "test_packs_are_timed_beside_those_of_numpy": 2,
        "test_reductions_are_timed_by_the_c_runtime_where_runs_are_fewer_than_keys": 0,
        "test_segments_are_measured": 0,
        "test_the_c_runtime_measures_the_same": 0,
        "test_the_cost_of_run_boundaries_is_measured": 0,
        "test_the_table_says_what_was_done": 0,
        "test_what_an_epilogue_costs_is_measured": 0,
        "test_wrong_results_are_not_timed": 1,
    },
    "device/test_bench_plans.py": {
        "test_a_plan_meets_its_sorts_on_a_device_of_its_target": 0,
        "test_each_sort_of_a_plan_is_measured_where_the_plan_does_not_use_it": 19,
        "test_elsewhere_a_plan_meets_its_sorts_on_request": 0,
        "test_the_least_ratio_to_a_sort_alone_is_told": 0,
    },
    "device/test_buckets.py": {
        "test_earlier_content_of_scratch_does_not_matter": 0,
        "test_even_keys_need_no_look_back": 0,
        "test_every_kind_of_keys_in_many_buckets": 1,
        "test_uneven_keys_are_left_to_look_back": 0,
    },
    "device/test_call_numbers.py": {
        "test_numbers_are_integers_within_bounds": 1,
        "test_scratch_is_computed_in_integers_of_python": 2,
    },
    "device/test_changes.py": {
        "test_a_device_without_subgroups_reports_the_same": 0,
        "test_oclgrind_reports_a_missing_barrier_and_nothing_else": 1,
        "test_run_boundaries_with_values_and_discarded_keys": 1,
        "test_runs_of_equal_keys_are_reported": 1,
        "test_the_bitmap_is_in_scratch_and_keeps_the_status": 4,
        "test_work_groups_of_several_tiles_report_it": 1,
    },
    "device/test_checks.py": {
        "test_every_fault_is_seen": 4,
        "test_large_counts_are_checked_on_the_device": 1,
    },
    "device/test_counted_buckets.py": {
        "test_every_kind_of_keys_and_range": 0,
        "test_what_buckets_hold_is_counted_without_passes": 0,
    },
    "device/test_cuda_api.py": {
        "test_launches_are_those_of_the_plan": 4,
        "test_orders_of_rows_are_those_of_numpy": 1,
        "test_sorts_in_place_and_into_another_array": 2,
    },
    "device/test_cuda_orders.py": {
        "test_launches_by_count": 3,
        "test_the_last_pass_stores_64_bit_indices": 1,
    },
    "device/test_cuda_tables.py": {
        "test_reductions_and_groups": 1,
        "test_unique_keys_and_run_lengths": 1,
    },
    "device/test_early_return.py": {
        "test_kernels_that_may_return_before_a_barrier_end_with_one": 1,
    },
    "device/test_empty_slices.py": {
        "test_other_operations": 1,
        "test_sorts": 4,
    },
    "device/test_epilogues.py": {
        "test_cells_begin_where_the_page_says": 1,
        "test_keys_can_be_changed_as_they_are_stored": 1,
        "test_the_page_is_true": 0,
        "test_validation_checks_the_report_of_an_epilogue": 0,
    },
    "device/test_every_form.py": {
        "test_all_keys_greatest_and_values_a_permutation": 1,
        "test_every_way_to_call_a_sort": 1,
    },
    "device/test_evidence_recorded.py": {
        "test_a_failure_says_where_it_was_right": 0,
        "test_what_ran_is_recorded": 0,
    },
    "device/test_exchanges.py": {
        "test_opencl": 0,
        "test_vulkan_and_hlsl": 0,
        "test_webgpu": 0,
    },
    "device/test_few_lanes.py": {
        "test_a_lane_sorts_a_row_by_bins": 0,
        "test_another_runtime_agrees": 1,
        "test_results_are_right": 1,
    },
    "device/test_gathering.py": {
        "test_planted_faults_are_caught": 0,
        "test_the_command_line_validates_gathers": 0,
    },
    "device/test_group_tables.py": {
        "test_counts_at_which_ways_begin": 0,
        "test_every_reduction_by_buckets": 3,
        "test_every_reduction_by_tables_of_digits": 0,
        "test_tables_of_few_groups": 1,
        "test_the_grouping_without_faults_passes": 1,
    },
    "device/test_grouping.py": {
        "test_planted_faults_are_caught": 1,
        "test_reductions": 1,
        "test_sums_of_floats_are_in_the_documented_order": 0,
        "test_the_command_line_validates_reductions": 0,
        "test_the_document_says_what_happens": 0,
        "test_vulkan_reduces": 0,
    },
    "device/test_groups.py": {
        "test_groups_match_numpy": 0,
        "test_the_c_runtime_groups": 0,
        "test_the_python_api_groups": 1,
    },
    "device/test_handover.py": {
        "test_groupings_hand_over_in_order": 1,
        "test_what_is_handed_over_is_ordered": 1,
        "test_without_order_there_is_a_race": 2,
    },
    "device/test_hlsl_lavapipe.py": {
        "test_every_way_to_call_a_sort": 0,
        "test_validation": 0,
    },
    "device/test_kinds.py": {
        "test_metal_text": 2,
        "test_through_opencl_in_c": 1,
        "test_through_vulkan_in_c": 0,
        "test_wide_values_through_vulkan": 0,
    },
    "device/test_lookback.py": {
        "test_a_device_that_starves_ends_in_the_right_order": 2,
        "test_a_pass_in_portions": 1,
        "test_every_set_of_constant_digits_ends_in_the_destination": 1,
        "test_many_more_work_groups_than_fit_end_alike_every_time": 1,
        "test_passes_without_work_are_skipped_next_to_failing_ones": 2,
        "test_tiles_that_publish_late_are_waited_for": 1,
        "test_waits_without_bound_end": 1,
    },
    "device/test_merging.py": {
        "test_merges": 2,
        "test_ranges": 1,
        "test_rows": 3,
        "test_sorts_whose_runs_are_merged_by_paths": 1,
        "test_the_python_api": 4,
        "test_wrong_kernels_are_found": 2,
        "test_wrong_ranges_are_found": 2,
        "test_wrong_rows_are_found": 2,
    },
    "device/test_metal.py": {
        "test_sorts": 1,
    },
    "device/test_native.py": {
        "test_a_bad_driver_ends_in_one_line": 0,
        "test_a_second_library_compiles_its_sorts_alone": 0,
        "test_a_write_beyond_scratch_is_found": 1,
        "test_scratch_is_filled_and_the_status_read": 1,
        "test_the_c_runtime_is_timed": 0,
    },
    "device/test_numpy_arrays.py": {
        "test_a_sorter_sorts_in_place_and_into_other_arrays": 1,
        "test_nans_come_out_as_one_bit_pattern_from_rows_of_any_length": 6,
        "test_results_are_those_of_numpy": 1,
    },
    "device/test_oclgrind.py": {
        "test_nothing_is_reported": 0,
        "test_nothing_is_reported_of_merges_by_paths": 0,
        "test_nothing_is_reported_of_reductions_by_key": 0,
        "test_nothing_is_reported_of_segmented_sorts": 0,
        "test_nothing_is_reported_of_sorts_with_values": 1,
    },
    "device/test_only_offset.py": {
        "test_vulkan_through_c": 0,
    },
    "device/test_optional_shapes.py": {
        "test_drawn_shapes_are_right": 2,
        "test_shapes_at_their_bounds_are_right": 0,
    },
    "device/test_packing.py": {
        "test_oclgrind_reports_nothing": 0,
        "test_packs": 3,
        "test_planted_faults_are_caught": 0,
        "test_the_c_runtime_packs": 0,
        "test_vulkan_packs": 0,
    },
    "device/test_pair_buckets.py": {
        "test_earlier_content_of_scratch_does_not_matter": 0,
        "test_even_keys_need_no_further_pass": 0,
        "test_every_kind_type_order_and_count": 1,
        "test_uneven_keys_are_left_to_further_passes": 0,
    },
    "device/test_pair_partition.py": {
        "test_even_keys_need_no_pass": 0,
        "test_every_kind_type_order_and_count": 1,
        "test_faults_are_noticed": 2,
        "test_uneven_keys_and_calls_in_place_are_left_to_passes": 1,
    },
    "device/test_pairs.py": {
        "test_values_stay_with_their_keys": 1,
    },
    "device/test_partition.py": {
        "test_earlier_content_of_scratch_does_not_matter": 0,
        "test_even_keys_need_no_passes": 0,
        "test_every_kind_type_order_and_count": 1,
        "test_uneven_keys_are_left_to_passes": 0,
    },
    "device/test_pieces.py": {
        "test_all_keys_are_sorted": 0,
        "test_every_kind_type_order_and_count": 1,
        "test_kernels_are_needed": 0,
        "test_planted_faults_are_caught": 0,
    },
    "device/test_probe.py": {
        "test_a_raw_query_makes_the_same_file": 1,
        "test_an_extension_reports_cores": 0,
        "test_lavapipe": 0,
    },
    "device/test_properties.py": {
        "test_any_call_matches_numpy": 1,
        "test_every_range_of_bits": 2,
        "test_few_drawn_keys_are_sorted_stably": 2,
    },
    "device/test_rankers.py": {
        "test_forms_without_subgroups_sort_on_another_device": 0,
        "test_kernels_of_64_bit_indices_sort_small_counts": 1,
        "test_lines_are_stored_wherever_memory_begins": 1,
        "test_oclgrind_reports_nothing": 0,
        "test_sorts": 1,
    },
    "device/test_refusals.py": {
        "test_opencl": 0,
        "test_vulkan": 0,
    },
    "device/test_report_page.py": {
        "test_nothing_is_wider_than_the_window_and_no_text_is_cut": 0,
    },
    "device/test_row_blocks.py": {
        "test_every_count_sorts": 1,
    },
    "device/test_scanning.py": {
        "test_oclgrind_reports_nothing": 0,
        "test_sums": 2,
        "test_the_c_runtime_sums": 0,
        "test_the_python_api": 3,
        "test_tiles_that_starve_are_done_again": 3,
        "test_vulkan_sums": 0,
    },
    "device/test_segments.py": {
        "test_a_million_keys": 0,
        "test_a_number_of_segments_on_the_device_by_the_python_api": 1,
        "test_bad_offsets_change_nothing": 2,
        "test_longer_segments_within_a_window": 0,
        "test_rows_by_the_python_api": 1,
        "test_segments_are_sorted_by_bins_or_ranked": 0,
        "test_segments_by_bins_through_vulkan": 0,
        "test_segments_of_targets": 1,
        "test_segments_through_vulkan": 0,
        "test_segments_with_ends_by_the_python_api": 1,
        "test_short_segments_are_compared_or_ranked": 0,
        "test_the_command_line_validates_segments": 0,
    },
    "device/test_selecting.py": {
        "test_a_wrong_selection_is_caught": 0,
        "test_numbers_of_rows": 0,
        "test_selections": 1,
        "test_shapes": 0,
        "test_the_document_says_what_happens": 0,
    },
    "device/test_selection_bounds.py": {
        "test_shapes_next_to_each_bound": 0,
    },
    "device/test_shapes.py": {
        "test_block_sorts_with_loops_sort": 1,
        "test_blocks_that_are_no_power_of_two_sort": 0,
        "test_drawn_shapes_sort": 0,
    },
    "device/test_short_rows.py": {
        "test_orders_of_short_rows": 0,
        "test_rows_are_one_launch": 0,
    },
    "device/test_sorted_exit.py": {
        "test_buckets_do_not_move_sorted_keys": 0,
        "test_sorted_and_nearly_sorted_keys_are_sorted": 1,
    },
    "device/test_stress.py": {
        "test_a_wrong_grouping_is_reported": 1,
    },
    "device/test_tiny_segments.py": {
        "test_each_way_sorts_and_its_faults_are_seen": 0,
        "test_tiny_segments": 0,
    },
    "device/test_token_guide.py": {
        "test_the_program_selects_from_a_batch_and_from_one_row": 0,
    },
    "device/test_tuning.py": {
        "test_planted_faults_are_recorded_and_never_win": 0,
    },
    "device/test_validate.py": {
        "test_generic_sorts_on_a_device_without_subgroups": 0,
        "test_targets_sort_on_the_embedded_device": 0,
        "test_the_frame_catches_stray_writes": 1,
    },
    "device/test_vulkan.py": {
        "test_a_wrong_kernel_is_caught": 0,
        "test_messages_of_the_layers_are_failures": 0,
        "test_sorts": 1,
        "test_the_example_picks_the_target_that_matches": 0,
    },
    "device/test_vulkan_docs.py": {
        "test_it_sorts_with_addresses_alone": 0,
        "test_it_sorts_with_push_descriptors": 0,
        "test_the_example_keeps_its_pipelines_in_a_file": 0,
        "test_the_layers_find_nothing_but_a_missing_barrier": 0,
        "test_the_program_sorts_as_many_pairs_as_the_device_counted": 0,
        "test_threads_make_its_pipelines": 0,
    },
    "device/test_vulkan_first.py": {
        "test_a_thread_makes_the_pipelines_while_calls_are_recorded": 0,
    },
    "device/test_vulkan_forms.py": {
        "test_every_way_to_call_a_sort": 0,
    },
    "device/test_vulkan_radix.py": {
        "test_sorts": 0,
    },
    "device/test_webgpu_columns.py": {
        "test_a_table_takes_little_of_a_page": 0,
        "test_the_program_of_the_guide": 0,
    },
    "device/test_webgpu_js.py": {
        "test_keys_of_other_widths_and_larger_values": 0,
        "test_names_have_the_prefix_of_the_bundle": 0,
        "test_operations_other_than_sorts": 0,
        "test_sorts_are_right_at_every_width": 1,
        "test_sorts_for_gpus": 0,
        "test_the_declarations_are_those_of_the_package": 1,
    },
    "device/test_webgpu_native.py": {
        "test_a_module_that_does_not_compile": 0,
        "test_a_tuning_ends_with_a_validated_shape": 0,
        "test_a_write_beyond_scratch_is_caught": 0,
        "test_buckets_sort_without_forward_progress": 0,
        "test_faults_of_dealt_pairs_are_noticed": 0,
        "test_parts_of_subgroups_sort": 0,
        "test_parts_wider_than_subgroups_are_refused": 0,
        "test_sorts_through_webgpu": 0,
        "test_subgroups_may_be_numbered_in_any_order": 0,
        "test_the_lanes_of_a_subgroup_are_found_by_a_kernel": 2,
        "test_what_webgpu_reports_fails_a_validation": 1,
    },
    "device/test_webgpu_page.py": {
        "test_it_fits_the_window_in_both_schemes": 2,
        "test_it_says_what_is_missing": 1,
        "test_nothing_moves_for_those_who_prefer_that": 0,
    },
    "device/test_wide_buckets.py": {
        "test_buckets_sort_even_keys_without_passes": 0,
        "test_every_kind_of_keys_and_range": 0,
    },
    "docs/test_add_algorithm.py": {
        "test_the_page_keeps_the_rules_of_the_project": 0,
    },
    "docs/test_add_api.py": {
        "test_everything_else_stays_unchanged": 0,
        "test_the_page_keeps_the_rules_of_the_project": 0,
        "test_what_it_generates_compiles": 0,
    },
    "docs/test_add_operation.py": {
        "test_the_page_keeps_the_rules_of_the_project": 0,
    },
    "docs/test_docs.py": {
        "test_adding_a_target_as_the_document_says": 0,
        "test_json_is_as_documented": 3,
        "test_json_of_a_benchmark_is_as_documented": 0,
        "test_json_of_a_validation_is_as_documented": 0,
        "test_the_pairs_of_the_guide_are_sorted": 0,
    },
    "docs/test_json_schemas.py": {
        "test_output_conforms": 2,
        "test_output_of_devices_conforms": 1,
        "test_targets_conform": 26,
        "test_the_schema_agrees_with_the_reader_on_mutants": 0,
    },
    "docs/test_semantics.py": {
        "test_examples_run": 0,
        "test_the_example_of_the_python_api_runs": 0,
    },
    "docs/test_sizes.py": {
        "test_sizes_are_those_of_the_page": 10,
    },
    "fuzz/test_fuzz.py": {
        "test_an_access_beyond_an_array_ends_the_process": 2,
    },
    "fuzz/test_target_files.py": {
        "test_target_files": 1,
    },
    "packaging/test_cubins.py": {
        "test_first_calls_in_a_new_environment_need_no_nvrtc": 0,
    },
    "packaging/test_release.py": {
        "test_licences_are_stated_as_reuse_defines_it": 0,
    },
    "packaging/test_wheel.py": {
        "test_wheel_generates_what_is_committed": 0,
        "test_wheel_validates": 0,
    },
    "unit/test_architecture.py": {
        "test_every_template_of_a_kernel_is_opened": 0,
    },
    "unit/test_auto.py": {
        "test_each_count_is_sorted_by_one_part_in_the_scratch_that_it_needs": 2,
    },
    "unit/test_forms.py": {
        "test_a_bit_range_is_sorted_by_radix_for_any_count": 8,
        "test_grids_are_those_of_the_real_count": 10,
        "test_parts_of_scratch_never_overlap": 2,
        "test_shapes_of_targets_fit_their_device_in_every_form": 8,
        "test_what_auto_serves": 2,
    },
    "unit/test_grids.py": {
        "test_no_sort_of_a_target_that_ships_exceeds_its_grids": 8,
    },
    "unit/test_group_by.py": {
        "test_buffers_in_scratch_keep_their_room_behind_the_sorted_arrays": 17,
        "test_every_target_groups_the_keys_that_it_sorts_and_reduces": 19,
    },
    "unit/test_js_files.py": {
        "test_a_module_has_the_plan_of_its_sort": 2,
    },
    "unit/test_max_n_plans.py": {
        "test_the_launches_up_to_n_are_the_same": 2,
    },
    "unit/test_merge_forms.py": {
        "test_no_row_can_be_dropped_or_wait_for_its_place": 1,
    },
    "unit/test_model.py": {
        "test_block_sorts_with_loops_sort": 2,
        "test_ragged_shapes_sort": 3,
        "test_shipped_shapes_sort": 3,
        "test_streaming_merges_merge_every_pair_of_sorted_runs": 1,
    },
    "unit/test_networks.py": {
        "test_merge_lanes_merges_every_pair_of_sorted_lanes": 12,
        "test_merge_runs_merges_tall_runs": 2,
        "test_merge_runs_merges_truncated_runs": 60,
    },
    "unit/test_numbered_work.py": {
        "test_all_work_is_done_by_few_lanes": 0,
        "test_derived_work_groups_fit_the_device": 5,
    },
    "unit/test_optional_tables.py": {
        "test_proposals_are_legal_tables_and_differ": 1,
    },
    "unit/test_plan.py": {
        "test_every_count_has_one_block_sort_that_covers_it": 19,
        "test_levels_have_their_stages_and_lanes": 10,
        "test_no_row_can_be_dropped": 3,
    },
    "unit/test_radix.py": {
        "test_every_fault_in_a_plan_is_noticed": 1,
        "test_every_launch_finds_what_it_needs_in_scratch": 10,
        "test_plans_sort": 18,
    },
    "unit/test_radix_bins.py": {
        "test_keys_end_in_the_destination_by_as_few_passes_as_that_takes": 9,
    },
    "unit/test_radix_exit.py": {
        "test_sorted_and_nearly_sorted_keys_are_sorted": 2,
    },
    "unit/test_radix_forms.py": {
        "test_a_bit_range_that_loses_a_bit_is_noticed": 6,
        "test_every_count_on_the_device_is_sorted": 6,
        "test_every_form_is_sorted": 15,
    },
    "unit/test_radix_grid.py": {
        "test_the_model_sorts": 2,
    },
    "unit/test_radix_key_buckets.py": {
        "test_every_kind_is_sorted": 1,
        "test_the_counters_of_buckets_are_within_scratch": 1,
    },
    "unit/test_radix_pair_buckets.py": {
        "test_every_kind_is_sorted": 1,
    },
    "unit/test_radix_pieces.py": {
        "test_every_fault_in_a_plan_is_noticed": 1,
        "test_every_kind_is_sorted": 1,
        "test_exactly_the_passes_that_a_sample_asks_for_sort_keys": 1,
        "test_types_orders_ranges_and_counts": 1,
    },
    "unit/test_radix_several.py": {
        "test_every_form_is_sorted_by_one_of_them": 3,
    },
    "unit/test_radix_wide.py": {
        "test_every_kind_is_sorted": 1,
    },
    "unit/test_report.py": {
        "test_kernels_and_launches_are_those_of_the_sorts": 1,
        "test_the_file_stdout_and_json_agree": 0,
        "test_the_page_is_sound_and_needs_nothing_else": 1,
        "test_the_page_is_the_same_wherever_it_is_made": 0,
    },
    "unit/test_requests.py": {
        "test_every_option_of_every_algorithm_is_honoured_or_refused": 1,
        "test_one_request_for_sorts_and_other_operations": 2,
    },
    "unit/test_scratch_limits.py": {
        "test_kernels_of_one_sort_agree_on_the_layout_of_scratch": 2,
        "test_scratch_is_little_more_than_a_second_buffer": 2,
    },
    "unit/test_segments_model.py": {
        "test_a_number_of_segments_on_the_device": 1,
        "test_every_target_with_a_radix_sort_has_one": 8,
        "test_layouts_of_validations": 11,
        "test_rows_of_equal_length": 3,
        "test_segments_with_ends": 13,
    },
    "unit/test_spirv.py": {
        "test_every_kernel_has_a_row": 4,
    },
    "unit/test_targets_sort.py": {
        "test_every_kernel_is_written_in_every_dialect": 14,
        "test_glsl_of_one_kernel_compiles": 4,
        "test_merges_sort": 8,
        "test_radix_sorts_sort": 15,
    },
    "unit/test_transaction.py": {
        "test_a_journal_that_is_not_believed_changes_nothing": 16,
        "test_an_update_that_is_killed_at_any_call_is_healed_by_the_next": 1,
    },
    "unit/test_tune_budget.py": {
        "test_it_ends_within_the_budget_and_one_validation": 3,
    },
    "unit/test_tune_edit.py": {
        "test_every_shipped_target_can_be_edited": 8,
    },
    "unit/test_tune_never_slower.py": {
        "test_a_table_that_is_slower_at_one_count_is_not_written": 1,
        "test_random_times": 1,
    },
    "unit/test_tune_resume.py": {
        "test_a_journal_cut_anywhere_gives_the_same_result": 1,
        "test_a_tuning_chooses_the_better": 2,
    },
    "unit/test_tune_search.py": {
        "test_it_gets_near_the_best_from_a_bad_start": 1,
    },
    "unit/test_tune_space.py": {
        "test_boxes_are_as_the_device_is": 23,
        "test_proposals_fit_and_do_not_repeat": 1,
        "test_what_targets_have_lies_in_their_spaces": 22,
    },
    "unit/test_untrusted_epilogues.py": {
        "test_excessive_time_or_memory_ends_in_one_line": 1,
    },
    "vendor/test_consumers.py": {
        "test_cmake_defines_what_the_project_can_build": 1,
        "test_cplusplus": 1,
        "test_meson": 0,
        "test_two_prefixes_in_one_program": 0,
    },
    "vendor/test_creation.py": {
        "test_as_many_kernels_as_calls_launch": 0,
        "test_the_example_keeps_its_kernels_in_a_file": 0,
        "test_the_example_names_what_the_sort_lacks": 0,
    },
    "vendor/test_examples.py": {
        "test_every_example_compiles_without_warnings": 3,
        "test_opencl": 1,
        "test_vulkan": 1,
    },
    "vendor/test_failures.py": {
        "test_every_call_may_fail": 1,
        "test_wrong_calls_get_their_status": 1,
    },
    "vendor/test_fuzzed_runtimes.py": {
        "test_calls_by_chance": 1,
    },
    "vendor/test_guide_programs.py": {
        "test_the_program_prints_what_it_says": 1,
    },
    "vendor/test_inclusion.py": {
        "test_an_includer_calls_newer_versions_of_opencl": 3,
        "test_the_binding_for_cplusplus_is_included_after": 1,
    },
    "vendor/test_install.py": {
        "test_a_subproject_of_meson_by_the_names_of_dependencies": 0,
        "test_fetch_content": 0,
        "test_pkg_config": 0,
    },
    "vendor/test_loaders.py": {
        "test_a_table_of_functions_in_place_of_prototypes": 0,
    },
    "vendor/test_match.py": {
        "test_a_match_that_finds_nothing_is_explained": 1,
    },
    "vendor/test_metal_runtime.py": {
        "test_a_bundle_is_plain_c_elsewhere": 2,
    },
    "vendor/test_readme.py": {
        "test_a_sorter_is_made_once_and_released": 1,
    },
    "vendor/test_recording.py": {
        "test_every_sort_is_recorded_as_planned": 0,
    },
    "vendor/test_single_file.py": {
        "test_cuda_by_nvcc": 0,
        "test_one_implementation_and_many_includes": 1,
        "test_opencl_sorts": 1,
        "test_syntax_of_metal": 0,
        "test_two_apis_in_one_program": 1,
    },
    "vendor/test_symbols.py": {
        "test_symbols_start_with_the_prefix": 1,
    },
    "vendor/test_threads.py": {
        "test_every_call_sorts_or_is_refused": 0,
    },
    "vendor/test_types.py": {
        "test_tables_of_an_api_have_the_constants_of_all_types": 2,
        "test_vulkan_sorts_as_matched": 0,
        "test_zeroed_options_mean_the_matched_type": 0,
    },
    "vendor/test_vendor_docs.py": {
        "test_names_in_the_documents_exist": 1,
        "test_vendoring_as_the_document_says": 0,
    },
    "vendor/test_warnings.py": {
        "test_no_file_for_cuda_warns": 0,
        "test_no_file_warns": 1,
    },
    "vendor/test_webgpu_bundle.py": {
        "test_an_installed_bundle_of_webgpu_is_found": 0,
        "test_cmake_with_a_target_of_webgpu": 0,
        "test_meson_with_webgpu": 0,
        "test_one_line_of_webgpu": 0,
        "test_single_file_of_webgpu": 0,
        "test_the_program_of_the_guide_for_webgpu": 0,
    },
}
