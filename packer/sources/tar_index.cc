#include "packer/sources/tar_index.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include "imgpack/error.h"
#include "packer/sources/text.h"

namespace imgpack {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::size_t kReadSize = 16u << 10;

struct FreeArchive {
  void operator()(archive* handle) const noexcept { archive_read_free(handle); }
};

// libarchive turns the UTF-8 names of pax headers into the thread's character set and normalises them on the way (NFD
// becomes NFC); where it can't, it hands out the bytes as they are. In the "C" locale it can't for any name that it
// would change, so every name comes out as it stands in the tar, whatever locale the program has set.
class ScopedCLocale {
 public:
  explicit ScopedCLocale(locale_t c) noexcept : before_(c == locale_t{} ? locale_t{} : ::uselocale(c)) {}
  ~ScopedCLocale() {
    if (before_ != locale_t{}) ::uselocale(before_);
  }
  ScopedCLocale(const ScopedCLocale&) = delete;
  ScopedCLocale& operator=(const ScopedCLocale&) = delete;

 private:
  locale_t before_;
};

struct FreeLocale {
  using pointer = locale_t;
  void operator()(locale_t locale) const noexcept { ::freelocale(locale); }
};

struct Magic {
  std::string_view bytes;
  std::string_view name;
};

constexpr std::array kCompressions{
    Magic{{"\x1f\x8b", 2}, "gzip"},
    Magic{{"\x28\xb5\x2f\xfd", 4}, "zstd"},
    Magic{{"\xfd"
           "7zXZ\0",
           6},
          "xz"},
    Magic{{"BZh", 3}, "bzip2"},
    Magic{{"\x04\x22\x4d\x18", 4}, "lz4"},
    Magic{{"\x5d\0\0", 3}, "lzma"},
    Magic{{"LZIP", 4}, "lzip"},
    Magic{{"\x89LZO\0", 5}, "lzop"},
    Magic{{"\x1f\x9d", 2}, "compress"},
    Magic{{"PK\x03\x04", 4}, "zip"},
    Magic{{"7z\xbc\xaf\x27\x1c", 6}, "7-Zip"},
    Magic{{"Rar!\x1a\x07", 6}, "RAR"},
};

std::string_view compression_at(const File& file, std::uint64_t offset) {
  std::array<std::byte, 8> head{};
  const std::size_t size = file.read_some_at(offset, head);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), size);
  for (const Magic& magic : kCompressions) {
    if (text.starts_with(magic.bytes)) return magic.name;
  }
  return {};
}

std::uint64_t round_up(std::uint64_t size) noexcept {
  return (size + kBlock - 1) / kBlock * kBlock;
}

TarMember::Kind kind_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return TarMember::Kind::hard_link;
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return archive_entry_sparse_count(entry) > 0 ? TarMember::Kind::sparse : TarMember::Kind::regular;
    case AE_IFDIR:
      return TarMember::Kind::directory;
    case AE_IFLNK:
      return TarMember::Kind::symbolic_link;
    default:
      return TarMember::Kind::other;
  }
}

void assign_name(std::string& out, const char* name) {
  std::string_view text = name == nullptr ? std::string_view() : std::string_view(name);
  while (text.starts_with("./")) {
    text.remove_prefix(2);
    while (text.starts_with('/')) text.remove_prefix(1);
  }
  out.assign(text);
}

}  // namespace

// Offsets are relative to `begin`, as libarchive counts them, unless they are called file offsets.
struct TarReader::State {
  State(const File& from, std::uint64_t offset, std::uint64_t bytes) : file(from), begin(offset), size(bytes) {}

  const File& file;
  std::uint64_t begin;
  std::uint64_t size;
  std::uint64_t read_position = 0;
  std::array<std::byte, kReadSize> buffer;
  std::exception_ptr read_error;  // must not pass through libarchive's C frames
  std::uint64_t expected_header = 0;
  bool expect_header = true;
  std::unique_ptr<std::remove_pointer_t<locale_t>, FreeLocale> c_locale{::newlocale(LC_ALL_MASK, "C", locale_t{})};
  std::unique_ptr<archive, FreeArchive> handle{archive_read_new()};

  static la_ssize_t read(archive* handle, void* self, const void** data) noexcept;
  static la_int64_t skip(archive* handle, void* self, la_int64_t bytes) noexcept;

  void open();
  void describe(archive_entry* entry, TarMember& member);
  void check_header_position() const;
  void check_end() const;
  [[noreturn]] void damaged(std::string message, std::uint64_t at) const;
  [[noreturn]] void fail(std::string_view what, std::uint64_t at) const;
};

la_ssize_t TarReader::State::read(archive* handle, void* self, const void** data) noexcept {
  State& state = *static_cast<State*>(self);
  try {
    const std::uint64_t left = state.size - state.read_position;
    const std::span<std::byte> out(state.buffer.data(), std::min<std::uint64_t>(left, kReadSize));
    const std::size_t got = state.file.read_some_at(state.begin + state.read_position, out);
    if (got < out.size()) state.damaged("the file became shorter while it was read", state.read_position + got);
    state.read_position += got;
    *data = state.buffer.data();
    return static_cast<la_ssize_t>(got);
  } catch (...) {
    state.read_error = std::current_exception();
    archive_set_error(handle, EIO, "read error");
    return -1;
  }
}

la_int64_t TarReader::State::skip(archive*, void* self, la_int64_t bytes) noexcept {
  State& state = *static_cast<State*>(self);
  if (bytes <= 0) return 0;
  const std::uint64_t step = std::min(static_cast<std::uint64_t>(bytes), state.size - state.read_position);
  state.read_position += step;
  return static_cast<la_int64_t>(step);
}

void TarReader::State::damaged(std::string message, std::uint64_t at) const {
  throw Error(ErrorCode::damaged, std::move(message), {file.path().string(), std::nullopt, begin + std::min(at, size)});
}

void TarReader::State::fail(std::string_view what, std::uint64_t at) const {
  if (read_error) std::rethrow_exception(read_error);
  if (archive_errno(handle.get()) == ENOMEM) {
    throw Error(ErrorCode::out_of_memory, "no memory to list the tar", {file.path().string(), {}, begin + at});
  }
  const char* reason = archive_error_string(handle.get());
  damaged(fmt::format("{}: {}", what, reason == nullptr ? "unknown reason" : reason), at);
}

void TarReader::State::open() {
  if (size == 0) damaged("is empty, and so not a tar", 0);
  if (!handle) throw Error(ErrorCode::out_of_memory, "no memory to list the tar", {file.path().string(), {}, begin});
  const ScopedCLocale locale(c_locale.get());
  archive* const a = handle.get();
  archive_read_support_format_tar(a);
  // Go on behind blocks of zeros, so that members of concatenated tars are not lost, and garbage there is an error.
  archive_read_set_format_option(a, "tar", "read_concatenated_archives", "1");
  archive_read_set_read_callback(a, &State::read);
  archive_read_set_skip_callback(a, &State::skip);
  archive_read_set_callback_data(a, this);
  if (archive_read_open1(a) == ARCHIVE_OK) return;
  if (read_error) std::rethrow_exception(read_error);
  const std::string_view compression = compression_at(file, begin);
  if (compression.empty()) fail("is not a tar", 0);
  throw Error(
      ErrorCode::unsupported,
      fmt::format("is compressed with {}: decompress it first, images in it can't be reached one by one", compression),
      {file.path().string(), {}, begin});
}

// The end of one member is the start of the next header. It is compared with what libarchive says, because content is
// later read from these ranges without libarchive: a header whose stated size is not its stored size must not pass.
void TarReader::State::check_header_position() const {
  const la_int64_t at = archive_read_header_position(handle.get());
  if (expect_header && (at < 0 || static_cast<std::uint64_t>(at) != expected_header)) {
    damaged("a member's size is not the size of what is stored", expected_header);
  }
}

void TarReader::State::check_end() const {
  check_header_position();
  const la_int64_t at = archive_read_header_position(handle.get());
  const std::uint64_t end = at < 0 ? size : static_cast<std::uint64_t>(at);
  if (end > size || size - end < kBlock) {
    damaged("the tar was cut off: there is no end-of-archive mark (if nothing is missing, append 1024 zero bytes)",
            end);
  }
}

void TarReader::State::describe(archive_entry* entry, TarMember& member) {
  const std::uint64_t header = static_cast<std::uint64_t>(archive_read_header_position(handle.get()));
  assign_name(member.name, archive_entry_pathname(entry));
  member.kind = kind_of(entry);
  if (member.name.empty() && member.kind != TarMember::Kind::directory) damaged("a member without a name", header);
  const char* target =
      member.kind == TarMember::Kind::hard_link ? archive_entry_hardlink(entry) : archive_entry_symlink(entry);
  member.link_target = target == nullptr ? "" : target;
  // Headers are consumed by now, content is not.
  const la_int64_t position = archive_filter_bytes(handle.get(), 0);
  const la_int64_t bytes = archive_entry_size(entry);
  if (position < 0 || bytes < 0) damaged("a member without a place or size", header);
  const std::uint64_t at = static_cast<std::uint64_t>(position);
  if (at > size || at < header + kBlock || at % kBlock != 0) damaged("a member outside the tar", header);

  const bool regular = member.kind == TarMember::Kind::regular;
  member.offset = begin + at;
  member.size = regular ? static_cast<std::uint64_t>(bytes) : 0;
  if (member.size > size - at) {
    damaged(fmt::format("the tar was cut off: '{}' has {} bytes, {} are left", printable(member.name), member.size,
                        size - at),
            header);
  }
  expect_header = regular;
  expected_header = at + round_up(member.size);
}

TarReader::TarReader(const File& file) : TarReader(file, 0, file.size()) {}

TarReader::TarReader(const File& file, std::uint64_t offset, std::uint64_t size)
    : state_(std::make_unique<State>(file, offset, size)) {
  const std::uint64_t file_size = file.size();
  if (offset > file_size || size > file_size - offset) {
    throw Error(ErrorCode::damaged, "the file ends inside the tar", {file.path().string(), {}, offset});
  }
  state_->open();
}

TarReader::TarReader(TarReader&&) noexcept = default;
TarReader& TarReader::operator=(TarReader&&) noexcept = default;
TarReader::~TarReader() = default;

bool TarReader::next(TarMember& member) {
  State& state = *state_;
  const ScopedCLocale locale(state.c_locale.get());
  archive_entry* entry = nullptr;
  const int result = archive_read_next_header(state.handle.get(), &entry);
  if (state.read_error) std::rethrow_exception(state.read_error);
  if (result == ARCHIVE_EOF) {
    state.check_end();
    return false;
  }
  // Warnings are about names in other character sets and attributes that nobody asks for here.
  if (result != ARCHIVE_OK && result != ARCHIVE_WARN) state.fail("not a whole tar", state.expected_header);
  state.check_header_position();
  state.describe(entry, member);
  return true;
}

std::string TarMember::problem() const {
  switch (kind) {
    case Kind::regular:
      return {};
    case Kind::directory:
      return "is a folder";
    case Kind::symbolic_link:
      return fmt::format("is a symbolic link (to '{}'), which is not followed in a tar", printable(link_target));
    case Kind::hard_link:
      return fmt::format("is a hard link (to '{}'), which is not followed in a tar", printable(link_target));
    case Kind::sparse:
      return "is stored as a sparse file: pack the tar anew, without the option for sparse files";
    case Kind::other:
      break;
  }
  return "is neither a file nor a folder";
}

}  // namespace imgpack
