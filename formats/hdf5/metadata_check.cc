#include "formats/hdf5/metadata_check.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "formats/hdf5/layout.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "mmap/paths.h"

namespace imgpack::hdf5 {

namespace {

// Superblock, versions 2 and 3: signature, version (1 byte), sizes of addresses and lengths (1 each), flags (1), then
// the addresses (8 each) of: base, extension, end of file, root group; checksum (4).
constexpr std::size_t kVersionAt = 8;
constexpr std::size_t kAddressSizeAt = 9;
constexpr std::size_t kLengthSizeAt = 10;
constexpr std::size_t kBaseAt = 12;
constexpr std::size_t kExtensionAt = 20;
constexpr std::size_t kEndAt = 28;
constexpr std::size_t kRootAt = 36;
constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};

constexpr std::size_t kChecksumSize = 4;
constexpr std::string_view kHeaderSignature = "OHDR";
constexpr std::string_view kChunkSignature = "OCHK";
constexpr unsigned kLinkMessage = 6;
constexpr unsigned kContinuationMessage = 16;

constexpr std::uint32_t rotate(std::uint32_t value, int by) noexcept {
  return std::rotl(value, by);
}

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Takes values off the front of bytes; what is not there ends in nothing.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) noexcept : rest_(bytes) {}
  std::size_t left() const noexcept { return rest_.size(); }

  std::optional<std::span<const std::byte>> bytes(std::uint64_t count) noexcept {
    if (count > rest_.size()) return std::nullopt;
    const auto taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  /// An unsigned number of `size` bytes, 1 to 8.
  std::optional<std::uint64_t> number(std::size_t size) noexcept {
    const auto taken = bytes(size);
    if (!taken) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>((*taken)[i]);
    return value;
  }

 private:
  std::span<const std::byte> rest_;
};

struct Link {
  std::string name;
  std::uint64_t address = 0;
};

/// A link message; nothing for links that are not to an object of this file, and for nonsense.
std::optional<Link> parse_link(std::span<const std::byte> message) {
  Cursor cursor(message);
  if (cursor.number(1) != 1u) return std::nullopt;
  const auto flags = cursor.number(1);
  if (!flags) return std::nullopt;
  if ((*flags & 8) != 0 && cursor.number(1) != 0u) return std::nullopt;  // type: 0 is a hard link
  if ((*flags & 4) != 0 && !cursor.number(8)) return std::nullopt;       // creation order
  if ((*flags & 16) != 0 && !cursor.number(1)) return std::nullopt;      // character set
  const auto size = cursor.number(std::size_t{1} << (*flags & 3));
  const auto name = size ? cursor.bytes(*size) : std::nullopt;
  const auto address = cursor.number(8);
  if (!name || !address) return std::nullopt;
  return Link{.name = std::string(text_of(*name)), .address = *address};
}

class Walk {
 public:
  Walk(std::span<const std::byte> bytes, const std::filesystem::path& name)
      : name_(name), bytes_(bytes), budget_(bytes.size()) {}

  void run() {
    const std::uint64_t root_address = check_superblock();
    const std::vector<Link> root = check_object(root_address);
    const auto is_info = [](const Link& link) { return link.name == kInfo; };
    if (std::none_of(root.begin(), root.end(), is_info)) foreign("there is no dataset 'imgpack' in it");
    check_end();
    for (const Link& link : root) {
      const bool group = link.name == kFields || link.name == kFieldOffsets;
      if (!group && !is_ours(link.name)) continue;
      for (const Link& field : check_object(link.address)) {
        if (group) check_object(field.address);
      }
    }
  }

 private:
  [[noreturn]] void damaged(std::uint64_t offset, std::string what) const {
    throw Error(ErrorCode::damaged, std::move(what), in_file(name_, offset));
  }

  [[noreturn]] void foreign(std::string_view why) const {
    throw Error(ErrorCode::unsupported, fmt::format("it is an HDF5 file, but not one that imgpack wrote: {}", why),
                in_file(name_));
  }

  static bool is_ours(std::string_view name) {
    static const std::vector<std::string> plain = plain_names();
    return name == kInfo || name == kEncoded || name == kImages || name == kClasses ||
           std::find(plain.begin(), plain.end(), name) != plain.end();
  }

  /// Returns the address of the root group.
  std::uint64_t check_superblock() const {
    if (bytes_.size() < kSuperblockSize) damaged(0, "it is too short for an HDF5 file");
    if (text_of(bytes_.first(kSignature.size())) != kSignature) damaged(0, "it does not start as HDF5 files do");
    const auto version = std::to_integer<unsigned>(bytes_[kVersionAt]);
    if (version != 2 && version != 3) {
      if (would_be_ours()) damaged(kVersionAt, "the version of its superblock has been changed");
      foreign(fmt::format("its superblock has version {}", version));
    }
    check_sum(0, bytes_.first(kSuperblockSize), "superblock");
    const bool wide = bytes_[kAddressSizeAt] == std::byte{8} && bytes_[kLengthSizeAt] == std::byte{8};
    if (!wide || number_at(kBaseAt) != 0 || number_at(kExtensionAt) != kNoAddress) foreign("its superblock has extras");
    return number_at(kRootAt);
  }

  /// Whether the superblock is right but for its version.
  bool would_be_ours() const {
    std::array<std::byte, kSuperblockSize - kChecksumSize> head;
    std::copy_n(bytes_.begin(), head.size(), head.begin());
    head[kVersionAt] = std::byte{2};
    return metadata_checksum(head) == load_le<std::uint32_t>(bytes_.data() + head.size());
  }

  std::uint64_t number_at(std::size_t offset) const { return load_le<std::uint64_t>(bytes_.data() + offset); }

  /// libhdf5 tolerates bytes behind the end that the superblock states; imgpack leaves none.
  void check_end() const {
    const std::uint64_t end = number_at(kEndAt);
    if (end != bytes_.size()) {
      damaged(kEndAt, fmt::format("it has {} bytes where its superblock says {}", bytes_.size(), end));
    }
  }

  /// Compares the checksum in the last 4 bytes of `block`.
  void check_sum(std::uint64_t offset, std::span<const std::byte> block, std::string_view what) const {
    const std::size_t size = block.size() - kChecksumSize;
    if (metadata_checksum(block.first(size)) != load_le<std::uint32_t>(block.data() + size)) {
      damaged(offset, fmt::format("the checksum of an HDF5 {} does not match", what));
    }
  }

  /// [offset, offset + size) of the file. No honest file needs more of this in sum than it has bytes.
  std::span<const std::byte> block(std::uint64_t offset, std::uint64_t size) {
    if (offset > bytes_.size() || size > bytes_.size() - offset || size > budget_) {
      damaged(offset, "HDF5 metadata reach beyond the end of the file");
    }
    budget_ -= size;
    return bytes_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }

  /// Checks all parts of the object header at `address`, once, and returns the links in it.
  std::vector<Link> check_object(std::uint64_t address) {
    std::vector<Link> links;
    if (!visited_.insert(address).second) return links;
    const std::uint64_t available = address <= bytes_.size() ? bytes_.size() - address : 0;
    Cursor prefix(bytes_.subspan(static_cast<std::size_t>(bytes_.size() - available)));
    const auto signature = prefix.bytes(kHeaderSignature.size());
    const auto version = prefix.number(1);
    const auto flags = prefix.number(1);
    if (!signature || text_of(*signature) != kHeaderSignature || version != 2u || !flags) {
      damaged(address, "an HDF5 object header does not start as such");
    }
    // Bit 5: four times follow; bit 4: two counts of attributes follow; bits 0 and 1: how wide the size is.
    if ((*flags & 32) != 0) prefix.bytes(16);
    if ((*flags & 16) != 0) prefix.bytes(4);
    const auto messages_size = prefix.number(std::size_t{1} << (*flags & 3));
    if (!messages_size || *messages_size > available) damaged(address, "an HDF5 object header is cut short");
    const std::uint64_t prefix_size = available - prefix.left();
    const auto whole = block(address, prefix_size + *messages_size + kChecksumSize);
    check_sum(address, whole, "object header");
    std::vector<std::span<const std::byte>> chunks = {
        whole.subspan(static_cast<std::size_t>(prefix_size), static_cast<std::size_t>(*messages_size))};
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      walk_messages(chunks[i], (*flags & 4) != 0, links, chunks);
    }
    return links;
  }

  void walk_messages(std::span<const std::byte> chunk, bool ordered, std::vector<Link>& links,
                     std::vector<std::span<const std::byte>>& chunks) {
    Cursor cursor(chunk);
    const std::size_t head_size = ordered ? 6 : 4;
    while (cursor.left() >= head_size) {
      const auto type = cursor.number(1);
      const auto size = cursor.number(2);
      cursor.bytes(head_size - 3);
      const auto message = cursor.bytes(*size);
      if (!message) damaged(offset_of(chunk), "a message in an HDF5 object header is cut short");
      if (type == kLinkMessage) {
        if (auto link = parse_link(*message)) links.push_back(std::move(*link));
      } else if (type == kContinuationMessage) {
        chunks.push_back(check_continuation(*message));
      }
    }
  }

  /// Returns the messages of the chunk that `message` leads to.
  std::span<const std::byte> check_continuation(std::span<const std::byte> message) {
    Cursor cursor(message);
    const auto address = cursor.number(8);
    const auto size = cursor.number(8);
    const std::size_t overhead = kChunkSignature.size() + kChecksumSize;
    if (!address || !size || *size < overhead) damaged(offset_of(message), "an HDF5 object header is cut short");
    const auto whole = block(*address, *size);
    if (text_of(whole.first(kChunkSignature.size())) != kChunkSignature) {
      damaged(*address, "a part of an HDF5 object header does not start as such");
    }
    check_sum(*address, whole, "object header");
    return whole.subspan(kChunkSignature.size(), whole.size() - overhead);
  }

  std::uint64_t offset_of(std::span<const std::byte> part) const {
    return static_cast<std::uint64_t>(part.data() - bytes_.data());
  }

  const std::filesystem::path& name_;
  std::span<const std::byte> bytes_;
  std::uint64_t budget_;
  std::set<std::uint64_t> visited_;
};

}  // namespace

std::uint32_t metadata_checksum(std::span<const std::byte> bytes) noexcept {
  std::uint32_t a = 0xdeadbeef + static_cast<std::uint32_t>(bytes.size());
  std::uint32_t b = a;
  std::uint32_t c = a;
  for (; bytes.size() > 12; bytes = bytes.subspan(12)) {
    a += load_le<std::uint32_t>(bytes.data());
    b += load_le<std::uint32_t>(bytes.data() + 4);
    c += load_le<std::uint32_t>(bytes.data() + 8);
    a = (a - c) ^ rotate(c, 4), c += b;
    b = (b - a) ^ rotate(a, 6), a += c;
    c = (c - b) ^ rotate(b, 8), b += a;
    a = (a - c) ^ rotate(c, 16), c += b;
    b = (b - a) ^ rotate(a, 19), a += c;
    c = (c - b) ^ rotate(b, 4), b += a;
  }
  if (bytes.empty()) return c;
  std::array<std::byte, 12> last{};
  std::copy(bytes.begin(), bytes.end(), last.begin());
  a += load_le<std::uint32_t>(last.data());
  b += load_le<std::uint32_t>(last.data() + 4);
  c += load_le<std::uint32_t>(last.data() + 8);
  c = (c ^ b) - rotate(b, 14);
  a = (a ^ c) - rotate(c, 11);
  b = (b ^ a) - rotate(a, 25);
  c = (c ^ b) - rotate(b, 16);
  a = (a ^ c) - rotate(c, 4);
  b = (b ^ a) - rotate(a, 14);
  c = (c ^ b) - rotate(b, 24);
  return c;
}

void check_metadata(std::span<const std::byte> file, const std::filesystem::path& name) {
  Walk(file, name).run();
}

}  // namespace imgpack::hdf5
