#include "formats/rec/rec_file.h"

#include <algorithm>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/checksum.h"
#include "imgpack/error.h"
#include "imgpack/verify.h"
#include "mmap/little_endian.h"
#include "tests/support/damage.h"
#include "tests/support/files.h"
#include "tests/support/store_fixture.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace {

/// Opens and reads everything, and verifies. False if nothing was wrong with the file.
bool damage_is_noticed(const std::filesystem::path& path) {
  const VerifyReport report = verify(path, {.threads = 1});
  try {
    const auto store = open_store(path);
    for (std::uint64_t i = 0; i < store->size(); ++i) {
      try {
        store->meta(i);
        store->key(i);
        store->bytes(i);
        for (std::size_t f = 0; f < store->info().fields.size(); ++f) store->field(i, f);
      } catch (const Error&) {
      }
    }
  } catch (const Error&) {
    CHECK(report.damage_count > 0);
  }
  return report.damage_count > 0;
}

/// The file of FORMAT.md's example: one record.
TestDataset example_dataset() {
  TestDataset dataset;
  dataset.info.classes = {{.name = "cat", .words = ""}};
  dataset.info.transform = {{"encode", "keep"}};
  dataset.info.source_kind = "class-folders";
  dataset.info.source_name = "pets";
  dataset.info.tool_version = "0.1.0";
  TestRecord record;
  record.key = "cat/a.gif";
  record.payload =
      std::string("GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0;", 35);
  record.meta.label = 0;
  record.meta.width = record.meta.height = record.meta.channels = 1;
  record.meta.codec = Codec::gif;
  dataset.records.push_back(record);
  return dataset;
}

/// The bytes that the ```hex blocks of `text` spell: lines of a hexadecimal offset and bytes. What no line names is
/// zero.
std::vector<std::byte> parse_hex_example(const std::string& text, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::istringstream lines(text);
  std::string line;
  bool inside = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("```")) {
      inside = line == "```hex";
      continue;
    }
    if (!inside || line.empty()) continue;
    std::istringstream words(line.substr(0, line.find('|')));
    std::size_t offset = 0;
    words >> std::hex >> offset;
    for (unsigned value = 0; words >> std::hex >> value; ++offset) {
      REQUIRE(offset < size);
      bytes[offset] = static_cast<std::byte>(value);
    }
  }
  return bytes;
}

std::string hex_example(std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t offset = 0; offset < bytes.size(); offset += 16) {
    const auto row = bytes.subspan(offset, std::min<std::size_t>(16, bytes.size() - offset));
    if (std::all_of(row.begin(), row.end(), [](std::byte byte) { return byte == std::byte{0}; })) continue;
    text += fmt::format("{:04x} ", offset);
    for (const std::byte byte : row) text += fmt::format(" {:02x}", static_cast<unsigned>(byte));
    text += std::string(3 * (16 - row.size()), ' ') + "  |";
    for (const std::byte byte : row) {
      const char c = static_cast<char>(byte);
      text += c >= ' ' && c <= '~' ? c : '.';
    }
    text += "|\n";
  }
  return text;
}

}  // namespace

TEST_CASE("every flipped byte is refused or reported") {
  TempDir dir;
  write_dataset(dir / "a.rec", make_dataset({.records = 3, .payload_size = 40, .segments = true, .fields = true}), {});
  const auto bytes = read_file(dir / "a.rec");
  for_each_flip(bytes, 1, [&](std::span<const std::byte> damaged, std::size_t offset) {
    write_file(dir / "b.rec", damaged);
    CAPTURE(offset);
    CHECK(damage_is_noticed(dir / "b.rec"));
  });
}

TEST_CASE("a file cut at any length is refused") {
  TempDir dir;
  write_dataset(dir / "a.rec", make_dataset({.records = 2, .payload_size = 40}), {});
  const auto bytes = read_file(dir / "a.rec");
  for_each_cut(bytes, 1, [&](std::span<const std::byte> cut) {
    write_file(dir / "b.rec", cut);
    CAPTURE(cut.size());
    CHECK_THROWS_AS(open_store(dir / "b.rec"), Error);
    CHECK(verify(dir / "b.rec", {}).damage_count == 1);
  });
}

TEST_CASE("damage to a payload names the record and its offset") {
  TempDir dir;
  const TestDataset dataset = make_dataset({.records = 5});
  write_dataset(dir / "a.rec", dataset, {});
  const std::uint64_t offset = open_store(dir / "a.rec")->place(3).offset;
  auto bytes = read_file(dir / "a.rec");
  bytes[offset + 11] ^= std::byte{4};
  write_file(dir / "a.rec", bytes);
  const VerifyReport report = verify(dir / "a.rec", {});
  REQUIRE(report.damage_count == 1);
  CHECK(report.damage[0].record == 3);
  CHECK(report.damage[0].offset == offset);
}

TEST_CASE("one damaged column entry does not hide other damage, wherever it stands") {
  TempDir dir;
  write_dataset(dir / "a.rec", make_dataset({.records = 600, .payload_size = 10}), {});
  auto bytes = read_file(dir / "a.rec");
  bytes[open_store(dir / "a.rec")->place(300).offset] ^= std::byte{4};
  const rec::Directory directory = rec::read_directory(MappedFile::open(dir / "a.rec"));
  for (const rec::Section& section : directory.sections) {
    if (section.type != static_cast<std::uint32_t>(Column::codec)) continue;
    // Wherever a stretch of records that are dealt with together ends.
    for (const std::uint64_t record : {63u, 127u, 255u, 511u, 599u}) bytes[section.offset + record] = std::byte{0xee};
  }
  write_file(dir / "a.rec", bytes);
  const VerifyReport report = verify(dir / "a.rec", {});
  for (const std::uint64_t record : {63u, 127u, 255u, 300u, 511u, 599u}) {
    CAPTURE(record);
    CHECK(std::any_of(report.damage.begin(), report.damage.end(),
                      [&](const Damage& damage) { return damage.record == record; }));
  }
  CHECK(report.records == 600);
}

TEST_CASE("a newer version and unknown features are unsupported, not damaged") {
  TempDir dir;
  write_dataset(dir / "a.rec", make_dataset({.records = 1}), {});
  const auto original = read_file(dir / "a.rec");
  for (const std::size_t offset : {std::size_t{8}, std::size_t{23}}) {
    auto bytes = original;
    bytes[offset] ^= std::byte{2};
    store_le(bytes.data() + 120, checksum_of(std::span(bytes).first(120)));
    write_file(dir / "b.rec", bytes);
    try {
      open_store(dir / "b.rec");
      FAIL("it was opened");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::unsupported);
    }
  }
}

TEST_CASE("payloads are aligned as asked") {
  for (const std::uint32_t alignment : {8u, 64u, 4096u, 65536u}) {
    TempDir dir;
    const TestDataset dataset = make_dataset({.records = 4, .segments = true});
    write_dataset(dir / "a.rec", dataset, {.alignment = alignment});
    const auto store = open_store(dir / "a.rec");
    check_equal(*store, dataset);
    for (std::uint64_t i = 0; i < 4; ++i) CHECK(store->place(i).offset % alignment == 0);
    CHECK(verify(*store, {}).damage_count == 0);
  }
}

TEST_CASE("the bytes of a rec file do not change from version to version") {
  TempDir dir;
  write_dataset(dir / "a.rec", make_dataset({.records = 12, .segments = true, .fields = true}), {});
  CHECK(fmt::format("{:016x}", checksum_of(read_file(dir / "a.rec"))) == "fee8380a06405a12");
}

TEST_CASE("the example in FORMAT.md is what the writer writes") {
  TempDir dir;
  write_dataset(dir / "a.rec", example_dataset(), {});
  const auto bytes = read_file(dir / "a.rec");
  const auto text = read_file(IMGPACK_SOURCE_DIR "/formats/FORMAT.md");
  const bool same = parse_hex_example(std::string(as_text(text)), bytes.size()) == bytes;
  CHECK(same);
  if (!same) MESSAGE("it should be\n" << hex_example(bytes));
}
