#include <array>
#include <utility>

#include "formats/backend.h"
#include "formats/rec/rec_format.h"
#ifdef IMGPACK_HAVE_LMDB
#include "formats/lmdb/lmdb_format.h"
#endif
#ifdef IMGPACK_HAVE_HDF5
#include "formats/hdf5/hdf5_format.h"
#endif
#ifdef IMGPACK_HAVE_TFRECORD
#include "formats/tfrecord/tfrecord_format.h"
#endif

namespace imgpack {

namespace {

constexpr FormatEntry kEntries[] = {
    {Format::rec, recognise_rec, open_rec, create_rec_backend},
#ifdef IMGPACK_HAVE_LMDB
    {Format::lmdb, recognise_lmdb, open_lmdb, create_lmdb_backend},
#endif
#ifdef IMGPACK_HAVE_HDF5
    {Format::hdf5, recognise_hdf5, open_hdf5, create_hdf5_backend},
#endif
#ifdef IMGPACK_HAVE_TFRECORD
    {Format::tfrecord, recognise_tfrecord, open_tfrecord, create_tfrecord_backend},
#endif
};

constexpr std::array<std::pair<Format, std::string_view>, 4> kNames = {{
    {Format::rec, "rec"},
    {Format::lmdb, "lmdb"},
    {Format::hdf5, "hdf5"},
    {Format::tfrecord, "tfrecord"},
}};

constexpr std::array<std::pair<std::string_view, Format>, 6> kExtensions = {{
    {".rec", Format::rec},
    {".lmdb", Format::lmdb},
    {".mdb", Format::lmdb},
    {".h5", Format::hdf5},
    {".hdf5", Format::hdf5},
    {".tfrecord", Format::tfrecord},
}};

}  // namespace

std::span<const FormatEntry> format_entries() noexcept {
  return kEntries;
}

std::string_view to_string(Format format) noexcept {
  for (const auto& [value, name] : kNames) {
    if (value == format) return name;
  }
  return "unknown";
}

std::optional<Format> format_from_name(std::string_view name) noexcept {
  for (const auto& [value, text] : kNames) {
    if (text == name) return value;
  }
  return std::nullopt;
}

std::optional<Format> format_from_extension(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  for (const auto& [text, value] : kExtensions) {
    if (text == extension) return value;
  }
  return std::nullopt;
}

bool format_available(Format format) noexcept {
  for (const FormatEntry& entry : kEntries) {
    if (entry.format == format) return true;
  }
  return false;
}

}  // namespace imgpack
