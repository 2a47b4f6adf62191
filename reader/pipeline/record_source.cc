#include "reader/pipeline/record_source.h"

#include <algorithm>
#include <cstdint>
#include <tuple>

#include "imgpack/error.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kMostGap = 64u << 10;   ///< bytes between records that are read for nothing
constexpr std::uint64_t kMostRead = 16u << 20;  ///< bytes of several records in one read

}  // namespace

/// What has to be read of a record.
struct UnbufferedSource::Wanted {
  std::size_t index = 0;  ///< in the list of samples
  const std::filesystem::path* file = nullptr;
  FileKey key;
  std::uint64_t begin = 0;  ///< offset in the file
  std::uint64_t end = 0;
  std::size_t payload_size = 0;
  std::span<const std::byte> segments;  ///< in the mapping, if they lie elsewhere
  std::size_t segments_begin = 0;       ///< from `begin`, if they lie behind the payload
  std::size_t segments_size = 0;
};

std::vector<FetchedRecord> UnbufferedSource::fetch(std::span<const Sample> samples) {
  std::vector<FetchedRecord> out(samples.size());
  std::vector<Wanted> wanted;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const StoreReader& store = shares_[samples[i].dataset].dataset.store();
    try {
      const PayloadPlace place = store.place(samples[i].record);
      const RecordBytes bytes = store.bytes(samples[i].record);
      Wanted item{.index = i,
                  .file = place.file,
                  .key = {place.device, place.inode},
                  .begin = place.offset,
                  .end = place.offset + place.size,
                  .payload_size = bytes.payload.size(),
                  .segments = bytes.segments,
                  .segments_begin = 0,
                  .segments_size = 0};
      // Formats that store the segment index behind the payload: one read brings both.
      const auto payload_end = reinterpret_cast<std::uintptr_t>(bytes.payload.data() + bytes.payload.size());
      const auto segments_begin = reinterpret_cast<std::uintptr_t>(bytes.segments.data());
      if (!bytes.segments.empty() && segments_begin >= payload_end && segments_begin - payload_end < 64) {
        item.segments_begin = bytes.payload.size() + (segments_begin - payload_end);
        item.segments_size = bytes.segments.size();
        item.segments = {};
        item.end = item.begin + item.segments_begin + item.segments_size;
      }
      wanted.push_back(item);
    } catch (const Error&) {  // damaged: whoever decodes it will find the same
    }
  }
  std::sort(wanted.begin(), wanted.end(),
            [](const Wanted& a, const Wanted& b) { return std::tie(a.key, a.begin) < std::tie(b.key, b.begin); });
  for (std::size_t first = 0; first < wanted.size();) {
    std::size_t end = first + 1;
    std::uint64_t reached = wanted[first].end;
    while (end < wanted.size() && wanted[end].key == wanted[first].key && wanted[end].begin <= reached + kMostGap &&
           wanted[end].end - wanted[first].begin <= kMostRead) {
      reached = std::max(reached, wanted[end].end);
      ++end;
    }
    read(std::span(wanted).subspan(first, end - first), out);
    first = end;
  }
  return out;
}

const UnbufferedFile& UnbufferedSource::file(const Wanted& item) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(item.key);
  if (found != files_.end()) return found->second;
  UnbufferedFile opened = UnbufferedFile::open(*item.file);
  const FileIdentity identity = opened.identity();
  if (FileKey(identity.device, identity.inode) != item.key) {
    throw Error(ErrorCode::not_found, "another file has taken its name", {.file = item.file->native()});
  }
  return files_.emplace(item.key, std::move(opened)).first->second;
}

void UnbufferedSource::read(std::span<const Wanted> run, std::vector<FetchedRecord>& out) {
  std::uint64_t end = 0;
  for (const Wanted& item : run) end = std::max(end, item.end);
  const std::uint64_t begin = run.front().begin;
  try {
    const UnbufferedFile& source = file(run.front());
    auto memory = std::make_shared<AlignedBuffer>(source.buffer_size(end - begin), source.alignment());
    const std::span<const std::byte> bytes = source.read(begin, end - begin, *memory);
    for (const Wanted& item : run) {
      const std::span<const std::byte> all = bytes.subspan(static_cast<std::size_t>(item.begin - begin));
      FetchedRecord& record = out[item.index];
      record.bytes.payload = all.first(item.payload_size);
      record.bytes.segments =
          item.segments_size != 0 ? all.subspan(item.segments_begin, item.segments_size) : item.segments;
      record.memory = memory;
    }
  } catch (const Error&) {  // the mapping tells why, for the record that it concerns
  }
}

}  // namespace imgpack
