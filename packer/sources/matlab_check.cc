#include "packer/sources/matlab_check.h"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "imgpack/error.h"
#include "mmap/little_endian.h"

namespace imgpack {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kHeaderSize = 128;
constexpr std::size_t kTagSize = 8;
constexpr std::size_t kMaxFieldName = 64;

enum Type : std::uint32_t {
  kInt8 = 1,
  kUint8 = 2,
  kInt16 = 3,
  kUint16 = 4,
  kInt32 = 5,
  kUint32 = 6,
  kSingle = 7,
  kDouble = 9,
  kInt64 = 12,
  kUint64 = 13,
  kMatrix = 14,
  kCompressed = 15,
  kUtf8 = 16,
  kUtf16 = 17,
};

enum Class : std::uint32_t { kStructClass = 2, kCharClass = 4, kFirstNumeric = 6, kLastNumeric = 15 };

/// Bytes of one value; 0 for types that hold none.
std::size_t width_of(std::uint32_t type) {
  switch (type) {
    case kInt8:
    case kUint8:
    case kUtf8:
      return 1;
    case kInt16:
    case kUint16:
    case kUtf16:
      return 2;
    case kInt32:
    case kUint32:
    case kSingle:
      return 4;
    case kDouble:
    case kInt64:
    case kUint64:
      return 8;
    default:
      return 0;
  }
}

struct Element {
  std::uint32_t type = 0;
  Bytes data;
};

class Checker {
 public:
  Checker(std::uint64_t max_bytes, const std::string& name) : max_bytes_(max_bytes), name_(name) {}

  void check_header(Bytes file) const {
    if (file.size() < kHeaderSize) damaged("is too short for a MATLAB file");
    const std::uint16_t version = load_le<std::uint16_t>(&file[124]);
    const std::string_view order(reinterpret_cast<const char*>(&file[126]), 2);
    if (order == "MI") unsupported("is a big-endian MATLAB file");
    if (order == "IM" && version == 0x0200) {
      unsupported("is a MATLAB 7.3 file; the devkit's own meta.mat is a MATLAB 5 file");
    }
    if (order != "IM" || version != 0x0100) damaged("is not a MATLAB 5 file");
  }

  void check_variables(Bytes rest) const {
    while (!rest.empty()) {
      // Compressed elements are the only ones without padding.
      const Element element = take(rest);
      if (element.type == kCompressed) {
        const std::vector<std::byte> inflated = inflate(element.data);
        Bytes inner = inflated;
        const Element matrix = take(inner);
        if (matrix.type != kMatrix || !inner.empty()) damaged("a compressed variable is not one matrix");
        check_matrix(matrix.data, true);
      } else if (element.type == kMatrix) {
        check_matrix(element.data, true);
      } else {
        damaged("holds something that is no variable");
      }
    }
  }

 private:
  [[noreturn]] void damaged(std::string message) const {
    throw Error(ErrorCode::damaged, std::move(message), {.file = name_});
  }
  [[noreturn]] void unsupported(std::string message) const {
    throw Error(ErrorCode::unsupported, std::move(message), {.file = name_});
  }

  Element take(Bytes& rest) const;
  std::vector<std::byte> inflate(Bytes compressed) const;
  std::uint64_t take_dimensions(Bytes& rest) const;
  void check_matrix(Bytes rest, bool may_be_struct) const;
  void check_struct(Bytes rest, std::uint64_t count) const;
  void check_values(Bytes rest, std::uint64_t count, bool text) const;

  std::uint64_t max_bytes_;
  const std::string& name_;
};

/// The first element of `rest`, which then begins behind it.
Element Checker::take(Bytes& rest) const {
  if (rest.size() < kTagSize) damaged("was cut off in an element's tag");
  const std::uint32_t first = load_le<std::uint32_t>(rest.data());
  if (first >> 16 != 0) {  // size and type in the first half of the tag, up to 4 bytes in the second
    const std::size_t size = first >> 16;
    if (size > 4) damaged("an element's size is wrong");
    const Element element{first & 0xffffu, rest.subspan(4, size)};
    rest = rest.subspan(kTagSize);
    return element;
  }
  const std::size_t size = load_le<std::uint32_t>(rest.data() + 4);
  rest = rest.subspan(kTagSize);
  if (size > rest.size()) damaged("was cut off, or an element's size is wrong");
  const Element element{first, rest.first(size)};
  const std::size_t padded = first == kCompressed ? size : (size + 7) / 8 * 8;
  if (padded > rest.size()) damaged("was cut off in an element's padding");
  rest = rest.subspan(padded);
  return element;
}

/// The whole of a zlib stream, whose checksum is right.
std::vector<std::byte> Checker::inflate(Bytes compressed) const {
  z_stream stream{};
  if (::inflateInit(&stream) != Z_OK) throw Error(ErrorCode::out_of_memory, "no memory to decompress", {.file = name_});
  struct End {
    z_stream& stream;
    ~End() { ::inflateEnd(&stream); }
  } const end{stream};
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(compressed.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(compressed.size());
  constexpr std::size_t kStep = 64u << 10;
  std::vector<std::byte> out;
  int result = Z_OK;
  while (result == Z_OK) {
    const std::size_t size = out.size();
    if (size > max_bytes_) damaged(fmt::format("a variable has more than {} bytes", max_bytes_));
    out.resize(size + kStep);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + size);
    stream.avail_out = kStep;
    result = ::inflate(&stream, Z_NO_FLUSH);
    out.resize(size + kStep - stream.avail_out);
  }
  if (result != Z_STREAM_END || stream.avail_in != 0) damaged("compressed data is damaged or cut off");
  return out;
}

std::uint64_t Checker::take_dimensions(Bytes& rest) const {
  const Element dimensions = take(rest);
  const std::size_t rank = dimensions.data.size() / 4;
  if (dimensions.type != kInt32 || dimensions.data.size() % 4 != 0 || rank < 2 || rank > 8) {
    damaged("a variable's dimensions make no sense");
  }
  std::uint64_t count = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int32_t dimension = load_le<std::int32_t>(&dimensions.data[i * 4]);
    if (dimension < 0) damaged("a variable has a negative dimension");
    // Below 2^26 before, so that the product can't overflow.
    count *= static_cast<std::uint64_t>(dimension);
    if (count > max_bytes_) damaged("a variable's dimensions are too large");
  }
  return count;
}

void Checker::check_matrix(Bytes rest, bool may_be_struct) const {
  if (rest.empty() && !may_be_struct) return;  // how MATLAB writes a field that was never set
  const Element flags = take(rest);
  if (flags.type != kUint32 || flags.data.size() != 8) damaged("a variable has no flags");
  constexpr std::uint32_t kComplex = 0x0800;
  const std::uint32_t word = load_le<std::uint32_t>(flags.data.data());
  const std::uint32_t kind = word & 0xffu;
  if ((word & kComplex) != 0) unsupported("holds complex numbers, which a devkit's meta.mat does not");
  const std::uint64_t count = take_dimensions(rest);
  const Element name = take(rest);
  if (name.type != kInt8 || name.data.size() > kMaxFieldName) damaged("a variable's name makes no sense");
  if (kind == kStructClass && may_be_struct) {
    check_struct(rest, count);
  } else if (kind == kCharClass || (kind >= kFirstNumeric && kind <= kLastNumeric)) {
    check_values(rest, count, kind == kCharClass);
  } else {
    unsupported(fmt::format("holds a variable of class {}, which a devkit's meta.mat does not", kind));
  }
}

void Checker::check_struct(Bytes rest, std::uint64_t count) const {
  const Element length = take(rest);
  if (length.type != kInt32 || length.data.size() != 4) damaged("a struct has no length of field names");
  const std::uint32_t name_size = load_le<std::uint32_t>(length.data.data());
  const Element names = take(rest);
  const bool sizes_fit = name_size >= 1 && name_size <= kMaxFieldName && names.data.size() % name_size == 0;
  if (names.type != kInt8 || !sizes_fit || names.data.empty()) damaged("a struct's field names make no sense");
  for (std::size_t end = name_size; end <= names.data.size(); end += name_size) {
    if (names.data[end - 1] != std::byte{0}) damaged("a struct's field name does not end");
  }
  const std::uint64_t fields = names.data.size() / name_size;
  if (count > rest.size() / kTagSize / fields) damaged("a struct array has more elements than the file can hold");
  for (std::uint64_t i = 0; i < count * fields; ++i) {
    const Element field = take(rest);
    if (field.type != kMatrix) damaged("a struct's field is no variable");
    check_matrix(field.data, false);
  }
  if (!rest.empty()) damaged("a struct array has more bytes than elements");
}

void Checker::check_values(Bytes rest, std::uint64_t count, bool text) const {
  if (count == 0 && rest.empty()) return;
  const Element values = take(rest);
  const std::size_t width = width_of(values.type);
  const bool number_type = values.type != kUtf8 && values.type != kUtf16;
  const bool text_type = values.type == kUint8 || values.type == kUint16 || !number_type;
  if (width == 0 || (text ? !text_type : !number_type)) damaged("a variable's values are of a wrong type");
  // Dimensions of UTF-8 texts count characters.
  const bool size_fits = values.type == kUtf8 ? values.data.size() >= count && values.data.size() / 4 <= count
                                              : values.data.size() == count * width;
  if (!size_fits || !rest.empty()) damaged("a variable has not as many values as its dimensions say");
}

}  // namespace

void check_matlab_file(const File& file, std::uint64_t max_bytes, const std::string& name) {
  const std::uint64_t size = file.size();
  if (size > max_bytes) {
    throw Error(ErrorCode::damaged, fmt::format("{} bytes are too many for a devkit's meta.mat", size), {.file = name});
  }
  std::vector<std::byte> bytes(size);
  file.read_at(0, bytes);
  const Checker checker(max_bytes, name);
  checker.check_header(bytes);
  checker.check_variables(Bytes(bytes).subspan(kHeaderSize));
}

}  // namespace imgpack
