#include <optional>
#include <utility>

#include <fmt/format.h>

#include "formats/lmdb/canonical.h"
#include "formats/lmdb/environment.h"
#include "formats/lmdb/index_writer.h"
#include "formats/lmdb/lmdb_format.h"
#include "formats/lmdb/recovery.h"
#include "formats/lmdb/row.h"
#include "imgpack/error.h"
#include "mmap/file.h"
#include "mmap/publish.h"

namespace imgpack {

namespace {

constexpr std::uint64_t kMaxPayload = 0xffff'ffff;  // liblmdb's limit for a value

class LmdbBackend final : public StoreBackend {
 public:
  explicit LmdbBackend(BackendContext context)
      : context_(std::move(context)), key_digits_(lmdb::key_digits_for(context_.options.expected_records)) {
    if (context_.resume) return;
    // Empties what is there: liblmdb would go on with it.
    File::open(context_.partial, File::Mode::create).close();
    open();
  }

  void put(std::uint64_t number, const Record& record, LogRow& row) override {
    const auto refuse = [&](std::string why) {
      throw Error(ErrorCode::refused, std::move(why),
                  {.file = context_.final_path.string(), .record = number, .offset = {}});
    };
    if (index_begun_) {
      refuse("the interrupted build had already seen its last record: start over instead of resuming");
    }
    if (number >= lmdb::records_for_digits(key_digits_)) {
      refuse(fmt::format("keys of {} digits cannot number it: the number of records was underestimated", key_digits_));
    }
    if (record.payload.size() > kMaxPayload) refuse("LMDB cannot store payloads of 4 GiB or more");
    appender_->begin_group(record.payload.size());
    appender_->append(main_, lmdb::RecordKey(number, key_digits_).bytes(), record.payload);
    row.segments = record.segments;
  }

  std::uint64_t recover(const File& log) override {
    const lmdb::Recovered kept = lmdb::recover_file(context_.partial, log, key_digits_);
    index_begun_ = kept.index_begun;
    open();
    return kept.records;
  }

  /// Nothing: a commit at a moment that depends on anything but the records would make the file irreproducible.
  void flush() override {}

  void finish(const RecordLog& log, const DatasetInfo& info) override {
    appender_->commit();
    appender_.reset();
    lmdb::write_index(*environment_, log, info, key_digits_);
    environment_.reset();
    lmdb::canonicalise(context_.partial);
  }

  void discard() noexcept override {
    appender_.reset();
    environment_.reset();
    remove_quietly(context_.partial);
  }

  std::vector<Output> outputs() const override {
    return {{.temporary = context_.partial, .final_path = context_.final_path}};
  }

 private:
  void open() {
    environment_.emplace(context_.partial);
    appender_.emplace(*environment_);
    main_ = appender_->open({});
  }

  BackendContext context_;
  unsigned key_digits_;
  std::optional<lmdb::Environment> environment_;
  std::optional<lmdb::Appender> appender_;  ///< destroyed before the environment
  MDB_dbi main_ = 0;
  bool index_begun_ = false;
};

}  // namespace

std::unique_ptr<StoreBackend> create_lmdb_backend(BackendContext context) {
  return std::make_unique<LmdbBackend>(std::move(context));
}

}  // namespace imgpack
