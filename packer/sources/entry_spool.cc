#include "packer/sources/entry_spool.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "imgpack/error.h"
#include "mmap/little_endian.h"

namespace imgpack {

namespace {

// A row: u64 where the entry begins, u32 its length, u32 its split.
constexpr std::size_t kRowBytes = 16;
constexpr std::size_t kEntryBuffer = 1u << 20;
constexpr std::size_t kRowBuffer = 1u << 16;
/// Rows that are read at once when entries are reordered, and rows that are collected of each split.
constexpr std::size_t kRowsAtOnce = 4096;
constexpr std::size_t kRowsPerSplit = 256;

// What follows an entry's key, label and fields.
enum Part : unsigned {
  kPathIsKey = 1,  ///< so in all folders
  kHasRange = 2,   ///< size and offset are stored
  kHasProblem = 4,
};

struct Row {
  std::uint64_t begin;
  std::uint32_t length;
  std::uint32_t split;
};

Row load_row(const std::byte* at) {
  return {load_le<std::uint64_t>(at), load_le<std::uint32_t>(at + 8), load_le<std::uint32_t>(at + 12)};
}

void put_number(std::vector<std::byte>& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<std::byte>(value | 0x80));
  out.push_back(static_cast<std::byte>(value));
}

void put_text(std::vector<std::byte>& out, std::string_view text) {
  put_number(out, text.size());
  const std::span bytes = std::as_bytes(std::span(text.data(), text.size()));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// Takes numbers and texts off an encoded entry; remembers if it was asked for more than there is.
class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<std::uint64_t>(bytes_.front());
      bytes_ = bytes_.subspan(1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    good_ = false;
    return 0;
  }

  void text(std::string& into) {
    const std::uint64_t length = number();
    if (length > bytes_.size()) {
      good_ = false;
      return;
    }
    into.assign(reinterpret_cast<const char*>(bytes_.data()), static_cast<std::size_t>(length));
    bytes_ = bytes_.subspan(static_cast<std::size_t>(length));
  }

  bool good() const { return good_; }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  bool good_ = true;
};

bool decode(std::span<const std::byte> bytes, SourceEntry& entry) {
  Decoder in(bytes);
  in.text(entry.key);
  entry.label = static_cast<std::int64_t>(in.number() - 1);
  const std::uint64_t fields = in.number();
  if (fields > in.left()) return false;
  entry.fields.resize(static_cast<std::size_t>(fields));
  for (std::string& field : entry.fields) in.text(field);
  const auto parts = static_cast<unsigned>(in.number());
  entry.container = static_cast<std::uint32_t>(in.number());
  entry.size = parts & kHasRange ? in.number() : 0;
  entry.offset = parts & kHasRange ? in.number() : 0;
  if (parts & kPathIsKey) {
    entry.path = entry.key;
  } else {
    in.text(entry.path);
  }
  entry.problem.clear();
  if (parts & kHasProblem) in.text(entry.problem);
  return in.good() && in.left() == 0;
}

}  // namespace

EntrySpool::EntrySpool(const std::filesystem::path& work_dir)
    : work_dir_(work_dir),
      entries_(std::make_unique<File>(File::temporary(work_dir))),
      rows_(std::make_unique<File>(File::temporary(work_dir))),
      entries_out_(std::make_unique<AppendFile>(*entries_, 0, kEntryBuffer)),
      rows_out_(std::make_unique<AppendFile>(*rows_, 0, kRowBuffer)) {}

std::span<const std::byte> EntrySpool::add(const SourceEntry& entry) {
  scratch_.clear();
  put_text(scratch_, entry.key);
  put_number(scratch_, static_cast<std::uint64_t>(entry.label) + 1);  // no label is one byte
  put_number(scratch_, entry.fields.size());
  for (const std::string& field : entry.fields) put_text(scratch_, field);
  const std::size_t identity = scratch_.size();

  const bool range = entry.size != 0 || entry.offset != 0;
  const bool path_is_key = entry.path == entry.key;
  put_number(scratch_,
             (path_is_key ? kPathIsKey : 0u) | (range ? kHasRange : 0u) | (entry.problem.empty() ? 0u : kHasProblem));
  put_number(scratch_, entry.container);
  if (range) {
    put_number(scratch_, entry.size);
    put_number(scratch_, entry.offset);
  }
  if (!path_is_key) put_text(scratch_, entry.path);
  if (!entry.problem.empty()) put_text(scratch_, entry.problem);
  if (scratch_.size() > UINT32_MAX) {
    throw Error(ErrorCode::out_of_memory, "the description of an entry is larger than 4 GiB");
  }

  std::array<std::byte, kRowBytes> row;
  store_le(row.data(), entries_out_->position());
  store_le(row.data() + 8, static_cast<std::uint32_t>(scratch_.size()));
  store_le(row.data() + 12, entry.split);
  entries_out_->append(scratch_);
  rows_out_->append(row);

  if (entry.split >= split_sizes_.size()) split_sizes_.resize(entry.split + 1);
  ++split_sizes_[entry.split];
  ordered_ = ordered_ && entry.split >= last_split_;
  last_split_ = entry.split;
  ++size_;
  return std::span(scratch_).first(identity);
}

void EntrySpool::finish() {
  entries_out_->flush();
  rows_out_->flush();
  entries_out_.reset();
  rows_out_.reset();
  scratch_ = {};
}

void EntrySpool::order_by_split() {
  if (ordered_) return;
  // A counting sort of the rows; the entries stay where they are.
  struct Pile {
    std::uint64_t next = 0;  ///< position of the first collected row
    std::vector<std::byte> rows;
  };
  std::vector<Pile> piles(split_sizes_.size());
  for (std::size_t i = 1; i < piles.size(); ++i) piles[i].next = piles[i - 1].next + split_sizes_[i - 1];
  auto sorted = std::make_unique<File>(File::temporary(work_dir_));
  const auto put_down = [&sorted](Pile& pile) {
    sorted->write_at(pile.next * kRowBytes, pile.rows);
    pile.next += pile.rows.size() / kRowBytes;
    pile.rows.clear();
  };
  std::vector<std::byte> chunk;
  for (std::uint64_t at = 0; at < size_; at += kRowsAtOnce) {
    chunk.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kRowsAtOnce, size_ - at)) * kRowBytes);
    rows_->read_at(at * kRowBytes, chunk);
    for (std::size_t i = 0; i < chunk.size(); i += kRowBytes) {
      const std::span row = std::span(chunk).subspan(i, kRowBytes);
      Pile& pile = piles[load_row(row.data()).split];
      pile.rows.insert(pile.rows.end(), row.begin(), row.end());
      if (pile.rows.size() >= kRowsPerSplit * kRowBytes) put_down(pile);
    }
  }
  for (Pile& pile : piles) put_down(pile);
  rows_ = std::move(sorted);
  ordered_ = true;
}

void EntrySpool::read(std::uint64_t number, SourceEntry& entry) const {
  if (number >= size_) throw Error(ErrorCode::invalid_argument, fmt::format("entry {} of {}", number, size_));
  std::array<std::byte, kRowBytes> row_bytes;
  rows_->read_at(number * kRowBytes, row_bytes);
  const Row row = load_row(row_bytes.data());
  // Nearly all entries are short; only the others cost an allocation.
  std::array<std::byte, 512> small;
  std::vector<std::byte> large;
  std::span<std::byte> bytes = std::span(small).first(std::min<std::size_t>(row.length, small.size()));
  if (row.length > small.size()) {
    large.resize(row.length);
    bytes = large;
  }
  entries_->read_at(row.begin, bytes);
  if (!decode(bytes, entry)) throw Error(ErrorCode::io, "the temporary list of entries was changed");
  entry.split = row.split;
}

}  // namespace imgpack
