#include "formats/key_sorter.h"

#include <algorithm>
#include <queue>

#include "mmap/little_endian.h"

namespace imgpack {

namespace {

constexpr std::size_t kEntryBytes = 24;
constexpr std::size_t kRunBuffer = 4096;  // entries

}  // namespace

/// A sorted run in the file, read in order.
class KeySorter::Run {
 public:
  Run(const File& file, std::uint64_t first, std::uint64_t count) : file_(file), next_(first), end_(first + count) {}

  bool advance() {
    if (position_ == entries_.size() && !refill()) return false;
    current_ = entries_[position_++];
    return true;
  }
  const Entry& current() const noexcept { return current_; }

 private:
  bool refill() {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kRunBuffer, end_ - next_));
    if (count == 0) return false;
    std::vector<std::byte> bytes(count * kEntryBytes);
    file_.read_at(next_ * kEntryBytes, bytes);
    entries_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::byte* at = bytes.data() + i * kEntryBytes;
      entries_[i] = {{load_le<std::uint64_t>(at), load_le<std::uint64_t>(at + 8)}, load_le<std::uint64_t>(at + 16)};
    }
    next_ += count;
    position_ = 0;
    return true;
  }

  const File& file_;
  std::uint64_t next_;
  std::uint64_t end_;
  std::vector<Entry> entries_;
  std::size_t position_ = 0;
  Entry current_{};
};

KeySorter::KeySorter(std::filesystem::path work_dir, std::size_t memory_entries)
    : work_dir_(std::move(work_dir)), memory_entries_(std::max<std::size_t>(memory_entries, 1)) {}

KeySorter::~KeySorter() = default;

void KeySorter::add(KeyHash hash, std::uint64_t number) {
  if (entries_.size() == memory_entries_) spill();
  entries_.push_back({hash, number});
}

void KeySorter::spill() {
  if (!file_.is_open()) {
    file_ = File::temporary(work_dir_);
    out_ = std::make_unique<AppendFile>(file_, 0);
  }
  std::sort(entries_.begin(), entries_.end());
  for (const Entry& entry : entries_) {
    std::byte bytes[kEntryBytes];
    store_le(bytes, entry.hash.high);
    store_le(bytes + 8, entry.hash.low);
    store_le(bytes + 16, entry.number);
    out_->append(bytes);
  }
  run_sizes_.push_back(entries_.size());
  entries_.clear();
}

void KeySorter::visit(const std::function<void(KeyHash, std::uint64_t)>& visitor) {
  if (run_sizes_.empty()) {
    std::sort(entries_.begin(), entries_.end());
    for (const Entry& entry : entries_) visitor(entry.hash, entry.number);
    return;
  }
  if (!entries_.empty()) spill();
  std::vector<Entry>().swap(entries_);
  out_->flush();

  std::vector<Run> runs;
  runs.reserve(run_sizes_.size());
  std::uint64_t first = 0;
  for (const std::uint64_t size : run_sizes_) {
    runs.emplace_back(file_, first, size);
    first += size;
  }
  const auto later = [&runs](std::size_t a, std::size_t b) { return runs[a].current() > runs[b].current(); };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> smallest(later);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].advance()) smallest.push(i);
  }
  while (!smallest.empty()) {
    const std::size_t run = smallest.top();
    smallest.pop();
    const Entry entry = runs[run].current();
    visitor(entry.hash, entry.number);
    if (runs[run].advance()) smallest.push(run);
  }
}

}  // namespace imgpack
