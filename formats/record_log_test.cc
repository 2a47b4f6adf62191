#include "formats/record_log.h"

#include <doctest/doctest.h>

#include "tests/support/files.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

LogRow sample_row(std::string_view key, std::uint64_t number) {
  LogRow row;
  row.key = key;
  row.meta.label = static_cast<std::int64_t>(number);
  row.meta.width = 3;
  row.meta.height = 5;
  row.meta.codec = Codec::png;
  row.meta.payload_size = 100 + number;
  row.payload_offset = 4096 + number;
  return row;
}

void write_sample(File& file) {
  RecordLog log = RecordLog::start(file, "print");
  const std::vector<std::string_view> fields = {"a", ""};
  for (std::uint64_t i = 0; i < 5; ++i) {
    LogRow row = sample_row("key", i);
    row.fields = fields;
    log.append(row);
    if (i == 2) log.append(LogLeftOut{.key = "bad", .reason = "why", .ignored = true});
  }
  log.flush();
}

}  // namespace

TEST_CASE("a log gives back what was appended") {
  TempDir dir;
  File file = File::open(dir / "log", File::Mode::create);
  write_sample(file);
  CHECK(RecordLog::read_fingerprint(file) == "print");
  RecordLogReader reader(file);
  int records = 0;
  int left_out = 0;
  for (auto kind = reader.next(); kind != RecordLogReader::Kind::end; kind = reader.next()) {
    if (kind == RecordLogReader::Kind::record) {
      CHECK(reader.record().key == "key");
      CHECK(reader.record().meta.label == records);
      CHECK(reader.record().meta.codec == Codec::png);
      CHECK(reader.record().fields.size() == 2);
      CHECK(reader.record().fields[0] == "a");
      ++records;
    } else {
      CHECK(reader.left_out().reason == "why");
      CHECK(reader.left_out().ignored);
      ++left_out;
    }
  }
  CHECK(records == 5);
  CHECK(left_out == 1);
}

TEST_CASE("a torn or damaged tail ends the log, and resuming cuts it off") {
  TempDir dir;
  File file = File::open(dir / "log", File::Mode::create);
  write_sample(file);
  const std::uint64_t whole = file.size();
  for (const std::uint64_t cut : {std::uint64_t{1}, std::uint64_t{9}, std::uint64_t{60}}) {
    write_sample(file);
    file.truncate(whole - cut);
    RecordLog log = RecordLog::resume(file, 4);
    CHECK(log.records() == 4);
    CHECK(log.left_out() == 1);
    CHECK(log.totals().payload_bytes == 100 + 101 + 102 + 103);
    log.append(sample_row("again", 9));
    log.flush();
    CHECK(RecordLog::resume(file, 5).totals().key_bytes == 4 * 3 + 5);
  }
}

TEST_CASE("resuming keeps the left-out rows that follow the last kept record") {
  TempDir dir;
  File file = File::open(dir / "log", File::Mode::create);
  write_sample(file);
  CHECK(RecordLog::resume(file, 3).left_out() == 1);
  write_sample(file);
  CHECK(RecordLog::resume(file, 2).left_out() == 0);
}

TEST_CASE("a seal is found again, and only with all rows before it") {
  TempDir dir;
  File file = File::open(dir / "log", File::Mode::create);
  write_sample(file);
  CHECK_FALSE(RecordLog::resume_sealed(file).has_value());
  write_sample(file);
  RecordLog::resume(file, 5).seal();
  const auto sealed = RecordLog::resume_sealed(file);
  REQUIRE(sealed.has_value());
  CHECK(sealed->records() == 5);
  CHECK(sealed->sealed());
}

TEST_CASE("a file that is no log is told from one") {
  TempDir dir;
  write_file(dir / "other", "IMGPLOG1 but no more");
  const File file = File::open(dir / "other", File::Mode::read);
  CHECK_FALSE(RecordLog::read_fingerprint(file).has_value());
}
