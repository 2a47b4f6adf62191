// The TFRecord format of imgpack (README.md): tf.train.Examples that TensorFlow and DALI read as they are, with an
// index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "formats/backend.h"
#include "imgpack/store.h"

namespace imgpack {

/// Whether the file begins with a frame header whose CRC is right. An empty file is recognised too: TFRecord has no
/// header, so that a dataset without records is an empty file; open_tfrecord() then insists on the index beside it.
bool recognise_tfrecord(std::span<const std::byte> head, std::uint64_t size);

/// Opens imgpack's own TFRecords through their index and others by scanning them. Throws not_found, damaged (naming
/// record and offset), unsupported (sound, but not one image a record) or io.
std::unique_ptr<StoreReader> open_tfrecord(const std::filesystem::path& path);

std::unique_ptr<StoreBackend> create_tfrecord_backend(BackendContext context);

}  // namespace imgpack
