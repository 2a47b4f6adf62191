// The writer that all formats share: lock, journal, order of operations, publishing. Formats come in as StoreBackends.
#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/backend.h"
#include "formats/checksum.h"
#include "formats/columns.h"
#include "formats/dataset_json.h"
#include "formats/text.h"
#include "imgpack/error.h"
#include "imgpack/store.h"
#include "mmap/paths.h"
#include "mmap/publish.h"

namespace imgpack {

namespace fs = std::filesystem;

namespace {

// The journal is handed to the kernel this often, so that little is lost when the process dies.
constexpr std::uint64_t kFlushBytes = 8u << 20;
constexpr std::uint64_t kFlushRows = 4096;
constexpr std::size_t kMaxLeftOutText = 4096;

/// Everything that decides the bytes of the output.
std::string fingerprint_of(const DatasetInfo& info, const StoreOptions& options) {
  const RawShape shape = options.raw_shape.value_or(RawShape{});
  return fmt::format("{}|{}|{}|{}x{}|{}|{}", to_string(options.format), options.alignment, options.expected_records,
                     shape.height, shape.width, dataset_info_to_json(info), options.fingerprint);
}

bool has_shape(const Record& record, RawShape shape) noexcept {
  const RecordMeta& meta = record.meta;
  return meta.codec == Codec::raw_rgb8 && meta.height == shape.height && meta.width == shape.width &&
         meta.channels == 3 && record.payload.size() == shape.bytes();
}

std::string short_digest(const std::string& text) {
  return fmt::format("{:016x}", checksum_of(std::as_bytes(std::span(text.data(), text.size()))));
}

class JournaledWriter final : public StoreWriter {
 public:
  JournaledWriter(fs::path path, DatasetInfo info, StoreOptions options, std::unique_ptr<LockedFile> journal,
                  RecordLog log, std::unique_ptr<StoreBackend> backend, bool was_sealed)
      : path_(std::move(path)),
        info_(std::move(info)),
        options_(std::move(options)),
        journal_(std::move(journal)),
        log_(std::move(log)),
        backend_(std::move(backend)),
        was_sealed_(was_sealed) {
    seed_left_out_ = info_.left_out_count;
    seed_ignored_ = info_.ignored_count;
    if (log_.sealed()) complete_info();
  }

  std::uint64_t records() const noexcept override { return log_.records(); }
  std::uint64_t entries() const noexcept override { return log_.records() + log_.left_out(); }
  bool sealed() const noexcept override { return log_.sealed(); }
  const DatasetInfo& info() const noexcept override { return info_; }

  void append(const Record& record) override {
    require_open();
    check(record);
    LogRow row;
    row.meta = record.meta;
    row.split = info_.splits.empty() ? 0 : record.split;
    row.key = record.key;
    row.fields = record.fields;
    backend_->put(log_.records(), record, row);
    log_.append(row);
    unflushed_bytes_ += record.payload.size();
    if (++unflushed_rows_ >= kFlushRows || unflushed_bytes_ >= kFlushBytes) flush();
  }

  void leave_out(const LeftOut& entry) override {
    require_open();
    const std::string key = printable_utf8(entry.key.substr(0, kMaxLeftOutText));
    const std::string reason = printable_utf8(entry.reason.substr(0, kMaxLeftOutText));
    log_.append(LogLeftOut{.key = key, .reason = reason, .ignored = entry.ignored});
  }

  void seal() override {
    require_open();
    flush();
    complete_info();
    backend_->finish(log_, info_);
    for (const StoreBackend::Output& output : backend_->outputs()) {
      File::open(output.temporary, File::Mode::read_write).sync();
    }
    log_.seal();
  }

  void publish() override {
    if (!log_.sealed()) seal();
    bool found = false;
    for (const StoreBackend::Output& output : backend_->outputs()) {
      // A resumed writer may find that the interrupted one had already published some of them.
      if (was_sealed_ && !path_exists(output.temporary) && path_exists(output.final_path)) {
        found = true;
      } else {
        // Files beside OUT that are there are its own.
        const bool ours = was_sealed_ && output.final_path != path_;
        publish_file(output.temporary, output.final_path, options_.overwrite || ours);
      }
    }
    if (found) require_published();
    published_ = true;
  }

  void finish() override {
    if (!published_) publish();
    journal_->remove();
  }

  void discard() noexcept override {
    backend_->discard();
    journal_->remove();
  }

 private:
  void require_open() const {
    if (log_.sealed()) throw Error(ErrorCode::invalid_argument, "the writer is already sealed", in_file(path_));
  }

  /// What was found under the final name must be what was sealed, and not an older output whose replacement somebody
  /// has removed.
  void require_published() const {
    const std::unique_ptr<StoreReader> store = open_store(path_);
    if (store->size() == info_.records && store->info().content_digest == info_.content_digest) return;
    throw Error(ErrorCode::damaged,
                "the interrupted build's finished file is gone, and another one has its name: --overwrite starts over",
                in_file(path_));
  }

  void check(const Record& record) const {
    const auto refuse = [&](std::string why) {
      throw Error(ErrorCode::invalid_argument, std::move(why),
                  {.file = path_.string(), .record = log_.records(), .offset = std::nullopt});
    };
    if (record.key.size() > kMaxKeyBytes) refuse(fmt::format("its key of {} bytes is too long", record.key.size()));
    if (!is_utf8(record.key)) refuse("its key is not UTF-8");
    const auto classes = static_cast<std::int64_t>(info_.classes.size());
    if (record.meta.label < kNoLabel || (classes != 0 && record.meta.label >= classes)) {
      refuse(fmt::format("its label {} is not one of the {} classes", record.meta.label, classes));
    }
    if (!info_.splits.empty() && record.split >= info_.splits.size()) refuse("its split is not declared");
    if (record.meta.payload_size != record.payload.size() || record.meta.segments_size != record.segments.size()) {
      refuse("its description does not fit its bytes");
    }
    if (options_.raw_shape && !has_shape(record, *options_.raw_shape)) {
      refuse(fmt::format("it is not raw pixels of {} x {} (height x width), as all records of this dataset are",
                         options_.raw_shape->height, options_.raw_shape->width));
    }
    if (record.fields.size() != info_.fields.size()) refuse("it does not have one value a field");
    for (std::size_t i = 0; i < info_.fields.size(); ++i) {
      const std::uint64_t size = info_.fields[i].value_size();
      if (info_.fields[i].type != FieldType::bytes && record.fields[i].size() != size) {
        refuse(fmt::format("its value of field {} has {} bytes, not {}", info_.fields[i].name, record.fields[i].size(),
                           size));
      }
    }
  }

  void flush() {
    backend_->flush();  // payloads first: a row must not promise what was never handed over
    log_.flush();
    unflushed_bytes_ = 0;
    unflushed_rows_ = 0;
  }

  void complete_info() {
    const LogTotals& totals = log_.totals();
    info_.records = totals.records;
    info_.payload_bytes = totals.payload_bytes;
    info_.pixels = totals.pixels;
    info_.left_out_count = seed_left_out_ + totals.left_out;
    info_.ignored_count = seed_ignored_ + totals.ignored;
    for (const LeftOut& item : totals.first_left_out) {
      if (info_.left_out.size() < DatasetInfo::kMaxLeftOut) info_.left_out.push_back(item);
    }
    std::vector<Split> ranges;
    for (const LogTotals::SplitRange& range : totals.split_ranges) {
      if (info_.splits.empty()) break;
      ranges.push_back({.name = info_.splits[range.split].name, .begin = range.begin, .end = range.end});
    }
    info_.splits = std::move(ranges);
    info_.content_digest = totals.content_digest.value(info_.splits);
  }

  fs::path path_;
  DatasetInfo info_;
  StoreOptions options_;
  std::unique_ptr<LockedFile> journal_;  ///< its file must not move: the log writes to it
  RecordLog log_;
  std::unique_ptr<StoreBackend> backend_;
  bool was_sealed_ = false;  ///< an earlier writer had come to publishing
  bool published_ = false;
  std::uint64_t seed_left_out_ = 0;  ///< what the description that was handed in had already left out
  std::uint64_t seed_ignored_ = 0;
  std::uint64_t unflushed_bytes_ = 0;
  std::uint64_t unflushed_rows_ = 0;
};

/// What an earlier writer of the same output has left, as far as `options` allows to go on with it.
enum class Leftover : std::uint8_t { none, open, sealed };

Leftover judge_leftover(const fs::path& path, const StoreOptions& options, const File& journal,
                        const std::string& fingerprint) {
  const std::optional<std::string> found = RecordLog::read_fingerprint(journal);
  if (!found) {
    if (RecordLog::may_be_torn_log(journal)) return Leftover::none;
    throw Error(ErrorCode::already_exists,
                "it stands where the build would keep its journal, but is none: move it away", in_file(journal.path()));
  }
  if (!options.resume) {
    if (options.overwrite) return Leftover::none;
    throw Error(ErrorCode::already_exists,
                "an interrupted build of it lies beside it: --resume goes on with it, --overwrite starts over",
                in_file(path));
  }
  if (*found != fingerprint) {
    throw Error(ErrorCode::invalid_argument,
                "the interrupted build was started with other options or another source: --overwrite starts over",
                in_file(path));
  }
  return Leftover::open;
}

/// What an interrupted build leaves is a regular file. A link of that name would lead the writer to somebody's file.
void refuse_foreign(const fs::path& path) {
  const fs::file_status status = fs::symlink_status(path);
  if (!fs::exists(status) || fs::is_regular_file(status)) return;
  throw Error(ErrorCode::invalid_argument, "it stands where the build would keep its parts, but is no regular file",
              in_file(path));
}

void check_options(const fs::path& path, const StoreOptions& options) {
  if (!std::has_single_bit(options.alignment) || options.alignment < 8 || options.alignment > 65536) {
    throw Error(ErrorCode::invalid_argument, "the alignment must be a power of two from 8 to 65536");
  }
  if (const auto& shape = options.raw_shape) {
    const auto in_range = [](std::uint32_t side) { return side >= 1 && side <= RawShape::kMaxSide; };
    if (!in_range(shape->height) || !in_range(shape->width)) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("raw images have sides of 1 to {} pixels", RawShape::kMaxSide));
    }
  }
  if (path.filename().empty()) throw Error(ErrorCode::invalid_argument, "the output needs a file name", in_file(path));
  if (path_kind(path) == PathKind::folder)
    throw Error(ErrorCode::already_exists, "the output is a folder", in_file(path));
  if (path_kind(path) == PathKind::other) {  // a rename would replace even /dev/null
    throw Error(ErrorCode::invalid_argument, "the output is no regular file, and never replaced", in_file(path));
  }
  if (path_kind(path) == PathKind::none && fs::is_symlink(fs::symlink_status(path))) {
    throw Error(ErrorCode::invalid_argument, "the output is a broken symbolic link", in_file(path));
  }
  for (const std::string_view suffix : {".partial", ".journal"}) refuse_foreign(with_suffix(path, suffix));
}

/// Files beside OUT may exist although OUT does not. Better said now than when the build comes to publishing them.
void refuse_existing_outputs(StoreBackend& backend, LockedFile& journal) {
  for (const StoreBackend::Output& output : backend.outputs()) {
    if (!path_exists(output.final_path)) continue;
    backend.discard();
    journal.remove();
    throw Error(ErrorCode::already_exists, "it exists; --overwrite replaces it", in_file(output.final_path));
  }
}

/// A seal says that only publishing is left. Unless this process made it, the finished file may have been damaged
/// since: then it is looked at again, like that of a build which was interrupted earlier. What has been published
/// already can only be compared.
Leftover judge_seal(const StoreBackend& backend, const StoreOptions& options) {
  const StoreBackend::Output main = backend.outputs().back();
  if (options.trust_seal) return Leftover::sealed;
  return !path_exists(main.temporary) && path_exists(main.final_path) ? Leftover::sealed : Leftover::open;
}

const FormatEntry& entry_of(Format format) {
  for (const FormatEntry& entry : format_entries()) {
    if (entry.format == format) return entry;
  }
  throw Error(ErrorCode::unsupported, fmt::format("this build of imgpack has no {} support", to_string(format)));
}

}  // namespace

std::unique_ptr<StoreWriter> StoreWriter::create(const fs::path& path, DatasetInfo info, const StoreOptions& options) {
  const FormatEntry& entry = entry_of(options.format);
  check_options(path, options);
  const std::string fingerprint = short_digest(fingerprint_of(info, options));
  auto journal = std::make_unique<LockedFile>(LockedFile::acquire(with_suffix(path, ".journal")));
  const bool fresh = journal->file().size() == 0;
  Leftover leftover = Leftover::none;
  std::optional<RecordLog> log;
  try {
    leftover = judge_leftover(path, options, journal->file(), fingerprint);
    if (leftover == Leftover::open && (log = RecordLog::resume_sealed(journal->file()))) leftover = Leftover::sealed;
    if (leftover != Leftover::sealed && !options.overwrite && path_exists(path)) {
      throw Error(ErrorCode::already_exists, "it exists; --overwrite replaces it", in_file(path));
    }
  } catch (...) {
    if (fresh) journal->remove();
    throw;
  }

  BackendContext context{.final_path = path,
                         .partial = with_suffix(path, ".partial"),
                         .info = info,
                         .options = options,
                         .resume = leftover != Leftover::none};
  std::unique_ptr<StoreBackend> backend = entry.create(std::move(context));
  if (leftover == Leftover::none && !options.overwrite) refuse_existing_outputs(*backend, *journal);
  const bool was_sealed = leftover == Leftover::sealed;
  if (was_sealed) leftover = judge_seal(*backend, options);
  if (was_sealed && leftover == Leftover::open && !options.overwrite && path_exists(path)) {
    throw Error(ErrorCode::already_exists, "it exists; --overwrite replaces it", in_file(path));
  }
  if (leftover == Leftover::open) {
    log = RecordLog::resume(journal->file(), backend->recover(journal->file()));
  } else if (leftover == Leftover::none) {
    log = RecordLog::start(journal->file(), fingerprint);
  }
  return std::make_unique<JournaledWriter>(path, std::move(info), options, std::move(journal), std::move(*log),
                                           std::move(backend), was_sealed);
}

}  // namespace imgpack
