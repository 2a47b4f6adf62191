// What a format adds to the writer that all formats share (formats/store_writer.cc): where payloads go, how to find out
// after an interruption which of them arrived whole, and how the finished file is written around them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "formats/record_log.h"
#include "imgpack/store.h"

namespace imgpack {

class StoreBackend {
 public:
  virtual ~StoreBackend() = default;

  /// Appends payload and segments of record number `number` and fills the places in `row`; `row.meta`, `split`, `key`
  /// and `fields` are already set. Formats that write segments in finish() set `row.segments` instead.
  virtual void put(std::uint64_t number, const Record& record, LogRow& row) = 0;

  /// After an interruption, called once and before put(): how many leading record rows of the log have their payload
  /// whole in the file. Discards what follows them, so that put() goes on there. Trusts nothing: payload checksums are
  /// compared.
  virtual std::uint64_t recover(const File& log) = 0;

  /// Hands all payloads so far to the kernel (called before the log is flushed).
  virtual void flush() = 0;

  /// Writes everything else and syncs. `info` is complete. The log is flushed and holds `log.records()` records.
  virtual void finish(const RecordLog& log, const DatasetInfo& info) = 0;

  /// Removes the partial files. Closed or not, no further call follows.
  virtual void discard() noexcept = 0;

  /// Temporary and final names, in the order in which they must be published; the main file is the last.
  struct Output {
    std::filesystem::path temporary;
    std::filesystem::path final_path;
  };
  virtual std::vector<Output> outputs() const = 0;
};

/// What a backend is made with.
struct BackendContext {
  std::filesystem::path final_path;  ///< OUT
  std::filesystem::path partial;     ///< OUT.partial
  DatasetInfo info;                  ///< classes, split names, fields, descriptions
  StoreOptions options;
  bool resume = false;  ///< true: create no file yet; recover() or only outputs() follows
};

/// Where every format is listed, once: its name, how it is recognised, opened and written.
struct FormatEntry {
  Format format;
  /// Whether the file that starts with `head` (up to 4096 bytes) is of this format. `size` is the file's.
  bool (*recognise)(std::span<const std::byte> head, std::uint64_t size);
  std::unique_ptr<StoreReader> (*open)(const std::filesystem::path& path);
  std::unique_ptr<StoreBackend> (*create)(BackendContext context);
};
std::span<const FormatEntry> format_entries() noexcept;

}  // namespace imgpack
