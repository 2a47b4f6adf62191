#include "packer/sources/source_list.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "formats/checksum.h"
#include "formats/columns.h"
#include "formats/key_sorter.h"
#include "imgpack/error.h"
#include "mmap/little_endian.h"
#include "packer/sources/containers.h"
#include "packer/sources/entry_spool.h"
#include "packer/sources/text.h"

namespace imgpack {

namespace {

constexpr std::size_t kMaxWarnings = 100;

/// A checksum over values whose lengths are part of it.
class Hasher {
 public:
  void update(std::span<const std::byte> bytes) { checksum_.update(bytes); }
  void update(std::uint64_t number) {
    std::byte bytes[8];
    store_le(bytes, number);
    update(bytes);
  }
  void update(std::string_view text) {
    update(static_cast<std::uint64_t>(text.size()));
    update(std::as_bytes(std::span(text.data(), text.size())));
  }
  std::uint64_t digest() const { return checksum_.value(); }

 private:
  Checksummer checksum_;
};

class ListedSource final : public Source {
 public:
  ListedSource(DatasetInfo info, EntrySpool entries, ContainerSet containers, std::vector<std::string> warnings,
               std::uint64_t digest)
      : info_(std::move(info)),
        entries_(std::move(entries)),
        containers_(std::move(containers)),
        warnings_(std::move(warnings)),
        digest_(digest) {}

  const DatasetInfo& info() const noexcept override { return info_; }
  std::uint64_t size() const noexcept override { return entries_.size(); }
  void entry(std::uint64_t index, SourceEntry& entry) const override { entries_.read(index, entry); }
  SourceBytes read(const SourceEntry& entry, ByteBuffer& scratch) const override {
    containers_.read(entry, scratch);
    return {.payload = scratch.bytes(), .segments = {}};
  }
  std::uint64_t digest() const noexcept override { return digest_; }
  const std::vector<std::string>& warnings() const noexcept override { return warnings_; }

 private:
  DatasetInfo info_;
  EntrySpool entries_;
  ContainerSet containers_;
  std::vector<std::string> warnings_;
  std::uint64_t digest_;
};

}  // namespace

struct SourceList::State {
  explicit State(const SourceOptions& options) : entries(options.work_dir), keys(options.work_dir) {}

  EntrySpool entries;
  ContainerSet containers;
  KeySorter keys;
  /// One a split, so that the digest follows the final order although entries come in any.
  std::vector<Hasher> split_digests;
  std::vector<std::string> warnings;
  std::uint64_t more_warnings = 0;

  void refuse_duplicates();
  std::string describe(std::uint64_t number, const SourceEntry& entry) const;
  std::uint64_t digest(const DatasetInfo& info) const;
};

std::string SourceList::State::describe(std::uint64_t number, const SourceEntry& entry) const {
  if (entry.container >= containers.size()) return fmt::format("entry {}", number);
  if (!containers.is_folder(entry.container)) {
    return fmt::format("{} at byte {}", containers.path(entry.container).native(), entry.offset);
  }
  return entry.offset != 0 ? fmt::format("line {} ({})", entry.offset, printable(entry.path))
                           : fmt::format("entry {} ({})", number, printable(entry.path));
}

void SourceList::State::refuse_duplicates() {
  KeyHash last_hash;
  std::uint64_t last_number = 0;
  bool first = true;
  SourceEntry one;
  SourceEntry other;
  keys.visit([&](KeyHash hash, std::uint64_t number) {
    if (!first && hash == last_hash) {
      entries.read(last_number, one);
      entries.read(number, other);
      if (one.key == other.key) {
        throw Error(ErrorCode::refused, fmt::format("duplicate key '{}': {} and {}", printable(one.key),
                                                    describe(last_number, one), describe(number, other)));
      }
    }
    first = false;
    last_hash = hash;
    last_number = number;
  });
}

std::uint64_t SourceList::State::digest(const DatasetInfo& info) const {
  Hasher all;
  all.update(static_cast<std::uint64_t>(info.classes.size()));
  for (const ClassInfo& one : info.classes) all.update(one.name);
  all.update(static_cast<std::uint64_t>(info.splits.size()));
  for (const Split& split : info.splits) all.update(split.name);
  all.update(static_cast<std::uint64_t>(info.fields.size()));
  for (const FieldSpec& field : info.fields) {
    all.update(field.name);
    all.update(static_cast<std::uint64_t>(field.type));
    all.update(static_cast<std::uint64_t>(field.shape.size()));
    for (const std::uint32_t dimension : field.shape) all.update(std::uint64_t{dimension});
  }
  for (std::size_t split = 0; split < split_digests.size(); ++split) {
    all.update(entries.split_sizes()[split]);
    all.update(split_digests[split].digest());
  }
  return all.digest();
}

SourceList::SourceList(const SourceOptions& options) : state_(std::make_unique<State>(options)) {}
SourceList::~SourceList() = default;

std::uint32_t SourceList::add_folder(const std::filesystem::path& folder) {
  return state_->containers.add_folder(folder);
}

std::uint32_t SourceList::add_file(const std::filesystem::path& file) {
  return state_->containers.add_file(file);
}

void SourceList::add(const SourceEntry& entry) {
  if (entry.split >= EntrySpool::kMaxSplits) {
    throw Error(ErrorCode::unsupported, fmt::format("more than {} splits", EntrySpool::kMaxSplits));
  }
  const std::span<const std::byte> identity = state_->entries.add(entry);
  if (entry.split >= state_->split_digests.size()) state_->split_digests.resize(entry.split + 1);
  state_->split_digests[entry.split].update(identity);
  state_->keys.add(hash_key(entry.key), state_->entries.size() - 1);
}

void SourceList::warn(std::string warning) {
  if (state_->warnings.size() < kMaxWarnings) {
    state_->warnings.push_back(std::move(warning));
  } else {
    ++state_->more_warnings;
  }
}

std::uint64_t SourceList::size() const noexcept {
  return state_->entries.size();
}

std::unique_ptr<Source> SourceList::finish() && {
  State& state = *state_;
  if (state.entries.size() == 0) {
    throw Error(ErrorCode::refused, "nothing to pack",
                in_file(state.containers.size() == 0 ? std::filesystem::path() : state.containers.path(0)));
  }
  if (state.entries.split_sizes().size() > std::max<std::size_t>(1, info.splits.size())) {
    throw Error(ErrorCode::invalid_argument, "an entry of the source is in a split that has no name");
  }
  state.entries.finish();
  state.refuse_duplicates();
  state.entries.order_by_split();
  if (state.more_warnings != 0) state.warnings.push_back(fmt::format("{} more warnings", state.more_warnings));
  const std::uint64_t digest = state.digest(info);
  return std::make_unique<ListedSource>(std::move(info), std::move(state.entries), std::move(state.containers),
                                        std::move(state.warnings), digest);
}

}  // namespace imgpack
