// Image files in folders, as torchvision's ImageFolder sees them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "codec/image_result.h"
#include "imgpack/error.h"
#include "imgpack/record.h"
#include "mmap/byte_buffer.h"

namespace imgpack::measure {

struct LooseFile {
  std::filesystem::path path;
  std::int64_t label = kNoLabel;  ///< number of the folder it lies in, among those that have images, sorted
};

/// All files below `folder` that are named like images, sorted; links are followed. Throws not_found, io, or
/// invalid_argument if there are none.
std::vector<LooseFile> list_images(const std::filesystem::path& folder);

/// Opens, reads and closes the file. Returns its bytes, valid until the buffer is used again. Throws not_found, io, or
/// damaged if it gets shorter meanwhile. Thread-safe, with a buffer for each thread.
std::span<const std::byte> read_image(const std::filesystem::path& path, ByteBuffer& buffer);

/// What the header tells, and the label. Throws damaged for what is no image.
RecordMeta describe_image(const LooseFile& file, std::span<const std::byte> bytes);

/// For a file that makes no image.
Error image_error(const std::filesystem::path& path, const ImageResult& result);

}  // namespace imgpack::measure
