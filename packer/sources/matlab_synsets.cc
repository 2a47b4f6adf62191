#include "packer/sources/matlab_synsets.h"

#include "imgpack/error.h"

#ifdef IMGPACK_HAVE_MATIO

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <matio.h>

#include "packer/sources/imagenet_names.h"
#include "packer/sources/matlab_check.h"
#include "packer/sources/text.h"

namespace imgpack {
namespace {

struct CloseMat {
  void operator()(mat_t* mat) const noexcept { Mat_Close(mat); }
};
struct FreeVariable {
  void operator()(matvar_t* variable) const noexcept { Mat_VarFree(variable); }
};
using Mat = std::unique_ptr<mat_t, CloseMat>;
using Variable = std::unique_ptr<matvar_t, FreeVariable>;

constexpr std::size_t kMaxSynsets = 1u << 20;

[[noreturn]] void damaged(const std::string& file, std::string message) {
  throw Error(ErrorCode::damaged, std::move(message), {.file = file});
}

/// Number of elements, if it is representable.
std::optional<std::size_t> element_count(const matvar_t& variable) {
  if (variable.rank < 1 || variable.dims == nullptr) return std::nullopt;
  std::size_t count = 1;
  for (int i = 0; i < variable.rank; ++i) {
    if (variable.dims[i] != 0 && count > std::numeric_limits<std::size_t>::max() / variable.dims[i])
      return std::nullopt;
    count *= variable.dims[i];
  }
  return count;
}

/// The bytes that matio holds for a plain array of `count` elements, or nothing if it holds less.
std::optional<std::span<const std::byte>> content(const matvar_t& variable, std::size_t count) {
  if (variable.data_size < 1 || variable.isComplex != 0) return std::nullopt;
  const std::size_t width = static_cast<std::size_t>(variable.data_size);
  if (count > variable.nbytes / width) return std::nullopt;
  if (variable.nbytes != 0 && variable.data == nullptr) return std::nullopt;
  return std::span(static_cast<const std::byte*>(variable.data), variable.nbytes);
}

template <typename T>
std::optional<double> scalar(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return static_cast<double>(value);
}

std::optional<double> number(const matvar_t& variable) {
  const auto count = element_count(variable);
  if (!count || *count != 1) return std::nullopt;
  const auto bytes = content(variable, *count);
  if (!bytes) return std::nullopt;
  switch (variable.data_type) {
    case MAT_T_DOUBLE:
      return scalar<double>(*bytes);
    case MAT_T_SINGLE:
      return scalar<float>(*bytes);
    case MAT_T_INT8:
      return scalar<std::int8_t>(*bytes);
    case MAT_T_UINT8:
      return scalar<std::uint8_t>(*bytes);
    case MAT_T_INT16:
      return scalar<std::int16_t>(*bytes);
    case MAT_T_UINT16:
      return scalar<std::uint16_t>(*bytes);
    case MAT_T_INT32:
      return scalar<std::int32_t>(*bytes);
    case MAT_T_UINT32:
      return scalar<std::uint32_t>(*bytes);
    case MAT_T_INT64:
      return scalar<std::int64_t>(*bytes);
    case MAT_T_UINT64:
      return scalar<std::uint64_t>(*bytes);
    default:
      return std::nullopt;
  }
}

void append_code_point(std::string& out, std::uint32_t point) {
  const auto tail = [&out, point](int shift) { out += static_cast<char>(0x80u | ((point >> shift) & 0x3fu)); };
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xc0u | (point >> 6));
    tail(0);
  } else if (point < 0x10000) {
    out += static_cast<char>(0xe0u | (point >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xf0u | (point >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

/// MATLAB's characters are UTF-16 units, stored in one or two bytes each. A half pair becomes U+FFFD.
std::string from_utf16(std::span<const std::byte> bytes, std::size_t width) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  const auto unit = [&](std::size_t i) -> std::uint32_t {
    std::uint16_t value = 0;
    std::memcpy(&value, bytes.data() + i * width, width);
    return value;
  };
  const std::size_t count = bytes.size() / width;
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t point = unit(i);
    const bool high = point >= 0xd800 && point < 0xdc00;
    if (high && i + 1 < count && unit(i + 1) >= 0xdc00 && unit(i + 1) < 0xe000) {
      append_code_point(out, 0x10000 + ((point - 0xd800) << 10) + (unit(i + 1) - 0xdc00));
      ++i;
    } else {
      append_code_point(out, point >= 0xd800 && point < 0xe000 ? kReplacement : point);
    }
  }
  return out;
}

/// A row of characters as UTF-8.
std::optional<std::string> text(const matvar_t& variable) {
  const auto count = element_count(variable);
  if (variable.class_type != MAT_C_CHAR || !count) return std::nullopt;
  if (*count == 0) return std::string();
  if (variable.rank != 2 || variable.dims[0] != 1) return std::nullopt;
  const auto bytes = content(variable, *count);
  if (!bytes) return std::nullopt;
  switch (variable.data_type) {
    case MAT_T_UTF8: {
      // Here dims count characters, nbytes bytes.
      std::string out(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      return is_utf8(out) ? out : from_utf16(*bytes, 1);
    }
    case MAT_T_INT8:
    case MAT_T_UINT8:
      return from_utf16(bytes->first(*count), 1);
    case MAT_T_UINT16:
    case MAT_T_UTF16:
      return variable.data_size == 2 ? std::optional(from_utf16(bytes->first(*count * 2), 2)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// One struct array, with errors that name field and element.
class StructArray {
 public:
  StructArray(matvar_t& variable, const std::string& file) : variable_(variable), file_(file) {
    const auto count = element_count(variable);
    if (variable.class_type != MAT_C_STRUCT || variable.data == nullptr || !count) {
      damaged(file_, "'synsets' is not an array of structs");
    }
    if (*count == 0 || *count > kMaxSynsets) damaged(file_, fmt::format("'synsets' has {} elements", *count));
    size_ = *count;
  }

  std::size_t size() const noexcept { return size_; }

  std::string text_at(const char* field, std::size_t i) const {
    const auto value = text(at(field, i));
    if (!value) damaged(file_, fmt::format("synsets({}).{} is not a text", i + 1, field));
    return *value;
  }

  /// A whole number in [least, 2^31).
  std::uint32_t number_at(const char* field, std::size_t i, double least) const {
    const auto value = number(at(field, i));
    if (!value || !(*value >= least) || !(*value < 2147483648.0) || *value != std::floor(*value)) {
      damaged(file_, fmt::format("synsets({}).{} is not a whole number of at least {}", i + 1, field, least));
    }
    return static_cast<std::uint32_t>(*value);
  }

 private:
  const matvar_t& at(const char* field, std::size_t i) const {
    const matvar_t* found = Mat_VarGetStructFieldByName(&variable_, field, i);
    if (found == nullptr) damaged(file_, fmt::format("synsets({}) has no field '{}'", i + 1, field));
    return *found;
  }

  matvar_t& variable_;
  const std::string& file_;
  std::size_t size_ = 0;
};

}  // namespace

std::vector<Synset> read_synsets(const File& file, const std::string& name) {
  check_matlab_file(file, kMaxMetaBytes, name);
  const std::string path = fmt::format("/proc/self/fd/{}", file.descriptor());
  const Mat mat(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
  if (!mat) damaged(name, "is not a MATLAB 5 file");
  const Variable variable(Mat_VarRead(mat.get(), "synsets"));
  if (!variable) damaged(name, "has no readable variable 'synsets'");

  const StructArray array(*variable, name);
  std::vector<Synset> synsets(array.size());
  std::set<std::string_view> wnids;
  for (std::size_t i = 0; i < synsets.size(); ++i) {
    Synset& synset = synsets[i];
    synset.id = array.number_at("ILSVRC2012_ID", i, 1);
    synset.wnid = array.text_at("WNID", i);
    synset.words = array.text_at("words", i);
    synset.leaf = array.number_at("num_children", i, 0) == 0;
    if (!is_wnid(synset.wnid)) damaged(name, fmt::format("synsets({}).WNID is '{}'", i + 1, printable(synset.wnid)));
    if (!wnids.insert(synset.wnid).second) damaged(name, fmt::format("{} stands twice in 'synsets'", synset.wnid));
  }
  std::sort(synsets.begin(), synsets.end(), [](const Synset& a, const Synset& b) { return a.id < b.id; });
  const auto same =
      std::adjacent_find(synsets.begin(), synsets.end(), [](const Synset& a, const Synset& b) { return a.id == b.id; });
  if (same != synsets.end()) damaged(name, fmt::format("ILSVRC2012_ID {} stands twice in 'synsets'", same->id));
  return synsets;
}

}  // namespace imgpack

#else

namespace imgpack {

std::vector<Synset> read_synsets(const File&, const std::string& name) {
  throw Error(ErrorCode::unsupported, "this imgpack was built without matio, which reads the devkit's meta.mat",
              {.file = name});
}

}  // namespace imgpack

#endif
