#include "imgpack/build.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "codec/decode.h"
#include "formats/parallel_blocks.h"
#include "formats/shards.h"
#include "imgpack/error.h"
#include "mmap/paths.h"
#include "mmap/publish.h"
#include "packer/pipeline.h"
#include "packer/raw_shape.h"
#include "packer/selection.h"
#include "packer/source.h"
#include "packer/transform_history.h"

namespace imgpack {

namespace fs = std::filesystem;

namespace {

/// One file of a build.
struct Target {
  fs::path path;
  ShardRange range;
  StoreOptions store;
  DatasetInfo info;
};

/// A build or conversion from an opened source: plans its files, then makes them one after the other.
class Builder {
 public:
  Builder(const Source& source, fs::path output, const BuildOptions& options)
      : source_(source),
        output_(std::move(output)),
        options_(options),
        selection_(source, options.limit, options.shuffle_seed) {
    report_.format = options.format.value_or(format_from_extension(output_).value_or(Format::rec));
    report_.entries = selection_.size();
    report_.classes = source.info().classes.size();
    report_.source_kind = source.info().source_kind;
    report_.warnings = source.warnings();
    plan();
  }

  BuildReport run() {
    for (const Target& target : targets_) report_.outputs.push_back(target.path);
    if (options_.dry_run) return std::move(report_);
    std::optional<LockedFile> lock;
    if (targets_.size() > 1) {
      lock.emplace(LockedFile::acquire(with_suffix(output_, ".lock")));
      refuse_existing();
    }
    try {
      if (targets_.size() == 1) {
        build_one(targets_.front());
      } else {
        build_shards();
      }
    } catch (...) {
      if (lock) lock->remove();
      throw;
    }
    if (lock) lock->remove();
    for (const Target& target : targets_) look_at(*open_store(target.path));
    return std::move(report_);
  }

 private:
  /// What a finished output tells beside its own description.
  void look_at(const StoreReader& store) {
    warn_of_unlabelled_splits(store);
    const DecodePaths paths = count_decode_paths(store);
    report_.decode_paths.indexed_jpeg += paths.indexed_jpeg;
    report_.decode_paths.raw += paths.raw;
    report_.decode_paths.raw_zstd += paths.raw_zstd;
    report_.decode_paths.whole_jpeg += paths.whole_jpeg;
    report_.decode_paths.other += paths.other;
  }

  void warn_of_unlabelled_splits(const StoreReader& store) {
    if (store.info().classes.empty()) return;
    for (const Split& split : store.info().splits) {
      std::uint64_t record = split.begin;
      while (record < split.end && store.meta(record).label == kNoLabel) ++record;
      if (record != split.end || split.begin == split.end) continue;
      report_.warnings.push_back(fmt::format(
          "split '{}' has no labels: its images lie in no class folders, and nothing else tells their classes",
          split.name));
    }
  }

  void plan() {
    std::vector<ShardRange> ranges;
    if (options_.shard_size != 0) {
      ranges = shards_by_size(source_, selection_, options_.shard_size);
    } else {
      ranges = shards_by_count(selection_.size(), std::max(1u, options_.shards));
    }
    const auto count = static_cast<std::uint32_t>(ranges.size());
    const bool sharded = options_.shards > 1 || options_.shard_size != 0 || options_.only_shard;
    if (options_.only_shard && *options_.only_shard >= count) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("there is no shard {} of {}: they are counted from 0", *options_.only_shard, count));
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      if (options_.only_shard && *options_.only_shard != i) continue;
      targets_.push_back(make_target(sharded ? shard_path(output_, i, count) : output_, ranges[i], i));
    }
  }

  Target make_target(const fs::path& path, ShardRange range, std::uint32_t shard) const {
    Target target;
    target.path = path;
    target.range = range;
    target.info = source_.info();
    describe_transform(target.info);
    if (target.info.tool_version.empty()) target.info.tool_version = version();
    for (const auto& [key, value] : options_.metadata) target.info.metadata[key] = value;
    if (shard != 0) {  // what a packed source had left out belongs to one shard only
      target.info.left_out.clear();
      target.info.left_out_count = target.info.ignored_count = 0;
    }
    target.store = {.format = report_.format,
                    .alignment = options_.alignment,
                    .overwrite = options_.overwrite,
                    .resume = options_.resume,
                    // With a limit, what stands at a position depends on how many there are.
                    .fingerprint = fmt::format(
                        "{:016x}|{}-{} of {}|{}|{}|{}", source_.digest(), range.begin, range.end, selection_.size(),
                        options_.shuffle_seed ? fmt::format("{}", *options_.shuffle_seed) : "-", options_.max_pixels,
                        options_.transform ? joined(options_.transform->describe()) : "as it is"),
                    .expected_records = range.end - range.begin,
                    .raw_shape = raw_shape_of(target.info)};
    return target;
  }

  void describe_transform(DatasetInfo& info) const {
    if (!options_.transform) return;
    const std::map<std::string, std::string> before = std::move(info.transform);
    info.transform = options_.transform->describe();
    if (const std::optional<std::string> shape = inherited_shape(before, *options_.transform)) {
      info.transform["raw_shape"] = *shape;
    }
    if (std::string steps = steps_so_far(before); !steps.empty()) info.transform["source_transform"] = std::move(steps);
  }

  void build_one(const Target& target) {
    const std::unique_ptr<StoreWriter> writer = StoreWriter::create(target.path, target.info, target.store);
    fill(target, *writer);
    writer->finish();
    add(target, writer->info());
  }

  /// All shards are made whole before the first gets its name, and journals go last: whatever moment the process dies
  /// at, a resume sees from the journals what is left to do.
  void build_shards() {
    const auto reopened = [](const Target& target) {
      StoreOptions options = target.store;
      options.resume = true;
      options.trust_seal = true;  // every shard was sealed, or found sealed and looked at again, above
      return StoreWriter::create(target.path, target.info, options);
    };
    // Journals are removed in order, so that a missing one whose file exists means: published, and all others too.
    const bool clearing = options_.resume && path_exists(with_suffix(targets_.back().path, ".journal"));
    std::vector<const Target*> open;
    for (const Target& target : targets_) {
      if (clearing && path_exists(target.path) && !path_exists(with_suffix(target.path, ".journal"))) {
        count_published(target);
        continue;
      }
      open.push_back(&target);
      const std::unique_ptr<StoreWriter> writer = StoreWriter::create(target.path, target.info, target.store);
      fill(target, *writer);
      if (!writer->sealed()) writer->seal();
      add(target, writer->info());
    }
    for (const Target* target : open) reopened(*target)->publish();
    for (const Target* target : open) reopened(*target)->finish();
  }

  /// Before any work: StoreWriter would only notice when it comes to a shard's turn.
  void refuse_existing() const {
    if (options_.overwrite || options_.resume) return;
    for (const Target& target : targets_) {
      if (!path_exists(target.path)) continue;
      throw Error(ErrorCode::already_exists, "it exists; --overwrite replaces it", in_file(target.path));
    }
  }

  void fill(const Target& target, StoreWriter& writer) {
    report_.resumed_entries += writer.entries();
    if (writer.sealed()) return;
    const std::uint64_t first = target.range.begin + writer.entries();
    PreparePipeline pipeline(source_, [this](std::uint64_t position) { return selection_(position); }, first,
                             std::max(first, target.range.end),
                             {.prepare = {.max_pixels = options_.max_pixels, .transform = options_.transform},
                              .threads = thread_count(options_.threads)});
    std::uint64_t position = first;
    for (std::span<PreparedEntry> entries = pipeline.next(); !entries.empty(); entries = pipeline.next()) {
      for (PreparedEntry& entry : entries) store(entry, writer);
      give_back(position, entries.size());
      position += entries.size();
      tell(BuildProgress::Stage::packing, position);
    }
    tell(BuildProgress::Stage::finishing, position);
  }

  void give_back(std::uint64_t position, std::uint64_t count) const {
    std::uint64_t first = 0;
    std::uint64_t run = 0;  // entries from `first` on
    for (std::uint64_t i = position; i < position + count; ++i) {
      const std::uint64_t entry = selection_(i);
      if (run != 0 && entry != first + run) {
        source_.done_with(first, run);
        run = 0;
      }
      if (run++ == 0) first = entry;
    }
    if (run != 0) source_.done_with(first, run);
  }

  void store(const PreparedEntry& prepared, StoreWriter& writer) {
    if (prepared.outcome != PreparedEntry::Outcome::record) {
      const bool ignored = prepared.outcome == PreparedEntry::Outcome::ignored;
      if (!ignored && options_.on_error == OnError::stop) {
        throw Error(ErrorCode::refused, prepared.reason, in_file(prepared.entry.key));
      }
      writer.leave_out({.key = prepared.entry.key, .reason = prepared.reason, .ignored = ignored});
      return;
    }
    fields_.assign(prepared.entry.fields.begin(), prepared.entry.fields.end());
    Record record;
    record.key = prepared.entry.key;
    record.meta = prepared.meta;
    record.split = prepared.entry.split;
    record.payload = prepared.bytes.payload;
    record.segments = prepared.bytes.segments;
    record.fields = fields_;
    writer.append(record);
    bytes_done_ += record.payload.size();
  }

  void tell(BuildProgress::Stage stage, std::uint64_t position) {
    if (!options_.progress) return;
    const BuildProgress progress{
        .stage = stage, .entries_done = position, .entries_total = selection_.size(), .bytes_done = bytes_done_};
    if (!options_.progress(progress)) throw Error(ErrorCode::invalid_argument, "cancelled");
  }

  void count_published(const Target& target) {
    add(target, open_store(target.path)->info());
    report_.resumed_entries += target.range.end - target.range.begin;
  }

  void add(const Target& target, const DatasetInfo& info) {
    for (const Split& split : info.splits) {
      const std::uint64_t begin = split.begin + report_.records;
      if (!report_.splits.empty() && report_.splits.back().name == split.name && report_.splits.back().end == begin) {
        report_.splits.back().end = split.end + report_.records;
      } else {
        report_.splits.push_back({.name = split.name, .begin = begin, .end = split.end + report_.records});
      }
    }
    report_.records += info.records;
    report_.payload_bytes += info.payload_bytes;
    // What a packed source had left out when it was made itself stays on record, but did not happen here.
    const DatasetInfo& before = target.info;
    report_.ignored_count += info.ignored_count - before.ignored_count;
    report_.refused_count += info.left_out_count - info.ignored_count - (before.left_out_count - before.ignored_count);
    for (std::size_t i = before.left_out.size(); i < info.left_out.size(); ++i) {
      if (report_.left_out.size() < DatasetInfo::kMaxLeftOut) report_.left_out.push_back(info.left_out[i]);
    }
  }

  const Source& source_;
  fs::path output_;
  const BuildOptions& options_;
  Selection selection_;
  std::vector<Target> targets_;
  BuildReport report_;
  std::vector<std::string_view> fields_;
  std::uint64_t bytes_done_ = 0;
};

void check_options(const fs::path& output, const BuildOptions& options) {
  if (options.transform) options.transform->check();
  if (options.shards > 1 && options.shard_size != 0) {
    throw Error(ErrorCode::invalid_argument, "either a number of shards or a shard size, not both");
  }
  if (path_kind(folder_of(output)) != PathKind::folder) {
    throw Error(ErrorCode::not_found, "the output's folder does not exist", in_file(folder_of(output)));
  }
}

BuildReport run(const Source& source, const fs::path& output, const BuildOptions& options,
                std::chrono::steady_clock::time_point begin) {
  BuildReport report = Builder(source, output, options).run();
  if (!options.dry_run && report.records == 0) {
    report.warnings.emplace_back("the dataset has no records");
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace

DecodePaths count_decode_paths(const StoreReader& store) {
  DecodePaths paths;
  for (std::uint64_t record = 0; record < store.size(); ++record) {
    switch (decode_path(store.meta(record))) {
      case DecodePath::indexed_jpeg:
        ++paths.indexed_jpeg;
        break;
      case DecodePath::raw:
        ++paths.raw;
        break;
      case DecodePath::raw_zstd:
        ++paths.raw_zstd;
        break;
      case DecodePath::whole_jpeg:
        ++paths.whole_jpeg;
        break;
      case DecodePath::other:
        ++paths.other;
        break;
    }
  }
  return paths;
}

BuildReport build(const fs::path& source, const fs::path& output, const BuildOptions& given) {
  const auto begin = std::chrono::steady_clock::now();
  BuildOptions options = given;
  if (!options.transform) options.transform.emplace();
  check_options(output, options);
  std::error_code absent;
  if (fs::equivalent(source, output, absent)) {
    throw Error(ErrorCode::invalid_argument, "it is the source itself: choose another name for the output",
                {.file = output.string(), .record = {}, .offset = {}});
  }
  if (options.progress && !options.progress({})) throw Error(ErrorCode::invalid_argument, "cancelled");
  const std::unique_ptr<Source> opened =
      open_source(source, {.work_dir = options.work_dir.empty() ? folder_of(output) : options.work_dir,
                           .need_sizes = options.shard_size != 0});
  return run(*opened, output, options, begin);
}

BuildReport convert(const fs::path& input, const fs::path& output, const BuildOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  check_options(output, options);
  const std::unique_ptr<Source> opened = open_packed_source(input);
  return run(*opened, output, options, begin);
}

std::string version() {
  return IMGPACK_VERSION;
}

}  // namespace imgpack
