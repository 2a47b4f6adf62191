# Sources of the tests here, which are those of tests/cuda_on_host too.
set(gpu_test_dir ${CMAKE_CURRENT_LIST_DIR})
set(gpu_transport_test_sources
  ${gpu_test_dir}/batched_copies_test.cc
  ${gpu_test_dir}/gather_test.cc
  ${gpu_test_dir}/gds_files_test.cc
  ${gpu_test_dir}/gpu_testing.cc
  ${gpu_test_dir}/pinned_arena_test.cc
  ${gpu_test_dir}/raw_images_test.cc
  ${gpu_test_dir}/record_transfer_test.cc
  ${gpu_test_dir}/registered_files_test.cc
  ${gpu_test_dir}/small_copies_test.cc)
set(gpu_pixels_test_sources
  ${gpu_test_dir}/colors_test.cc
  ${gpu_test_dir}/erase_test.cc
  ${gpu_test_dir}/mix_test.cc)
set(gpu_images_test_sources
  ${gpu_test_dir}/device_images.cc
  ${gpu_test_dir}/jpeg_images_test.cc)
set(gpu_loader_test_sources
  ${PROJECT_SOURCE_DIR}/reader/loader_testing.cc
  ${gpu_test_dir}/loader_batches.cc
  ${gpu_test_dir}/loader_batches_test.cc
  ${gpu_test_dir}/loader_life_gpu_test.cc)
