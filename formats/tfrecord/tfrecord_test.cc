// What a user of the format sees: datasets come back as they went in, in the bytes that the format's page promises.
#include <algorithm>
#include <limits>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/tfrecord/frame.h"
#include "formats/tfrecord/tfrecord_format.h"
#include "formats/tfrecord/tfrecord_test_support.h"
#include "imgpack/error.h"
#include "mmap/file.h"
#include "mmap/mapped_file.h"
#include "tests/support/files.h"

namespace imgpack::testing {
namespace {

namespace fs = std::filesystem;

void check_sound(const fs::path& path) {
  DamageList found;
  inspect(path, found);
  for (const Damage& damage : found.found()) FAIL_CHECK(damage.file, ": ", damage.what);
}

TEST_CASE("a dataset comes back as it went in, through its index") {
  const TempDir folder;
  const fs::path path = folder / "set.tfrecord";
  const TestDataset dataset = make_dataset(9);
  write_dataset(path, dataset);
  const auto store = open_store(path);
  check_holds(*store, dataset);
  CHECK(store->info().classes == dataset.info.classes);
  CHECK(store->info().fields == dataset.info.fields);
  CHECK(store->info().splits == std::vector<Split>{{"train", 0, 4}, {"val", 4, 9}});
  CHECK(store->info().records == 9);
  check_sound(path);
}

TEST_CASE("place() is where the payload lies in the file") {
  const TempDir folder;
  const fs::path path = folder / "set.tfrecord";
  const TestDataset dataset = make_plain_dataset(4);
  write_dataset(path, dataset);
  const auto store = open_store(path);
  const std::vector<std::byte> file = read_file(path);
  for (std::size_t i = 0; i < 4; ++i) {
    const PayloadPlace place = store->place(i);
    CHECK(*place.file == path);
    REQUIRE(place.offset + place.size <= file.size());
    CHECK(std::ranges::equal(std::span(file).subspan(place.offset, place.size), dataset.records[i].payload));
  }
}

TEST_CASE("the payload is the tail of the frame's data") {
  const TempDir folder;
  const fs::path path = folder / "set.tfrecord";
  const TestDataset dataset = make_dataset(5);
  write_dataset(path, dataset);
  const std::vector<std::byte> file = read_file(path);
  std::uint64_t offset = 0;
  for (const TestRecord& record : dataset.records) {
    Frame frame;
    REQUIRE(read_frame(file, offset, frame) == FrameStatus::ok);
    CHECK(std::ranges::equal(frame.data.last(record.payload.size()), record.payload));
    offset += frame.size;
  }
  CHECK(offset == file.size());
}

TEST_CASE("equal datasets are equal files") {
  const TempDir folder;
  const TestDataset dataset = make_dataset(6);
  write_dataset(folder / "a", dataset);
  write_dataset(folder / "b", dataset);
  for (const char* suffix : {"", ".idx", ".imgpack"})
    CHECK(read_file(folder / (std::string("a") + suffix)) == read_file(folder / (std::string("b") + suffix)));
}

TEST_CASE("a dataset without records") {
  const TempDir folder;
  const fs::path path = folder / "empty.tfrecord";
  const TestDataset dataset = make_dataset(0);
  write_dataset(path, dataset);
  CHECK(fs::file_size(path) == 0);
  CHECK(fs::file_size(folder / "empty.tfrecord.idx") == 0);
  const auto store = open_store(path);
  CHECK(store->size() == 0);
  CHECK(store->info().classes == dataset.info.classes);
  check_sound(path);

  fs::remove(folder / "empty.tfrecord.imgpack");
  CHECK_THROWS_AS(open_store(path), Error);
}

TEST_CASE("odd keys and labels, empty payloads") {
  const TempDir folder;
  const fs::path path = folder / "odd.tfrecord";
  TestDataset dataset = make_plain_dataset(6);
  dataset.info.classes.clear();
  dataset.records[0].key = std::string(70'000, 'k');
  dataset.records[1].key = "";
  dataset.records[2].key = "../../etc/x";
  dataset.records[3].key = "/absolut/\xc3\xa4";
  dataset.records[3].meta.label = kNoLabel;
  dataset.records[4].meta.label = std::numeric_limits<std::int64_t>::max();
  dataset.records[4].meta.width = std::numeric_limits<std::uint32_t>::max();
  dataset.records[5].payload.clear();
  dataset.records[5].meta.codec = Codec::unknown;
  write_dataset(path, dataset);
  check_holds(*open_store(path), dataset);
  check_sound(path);

  fs::remove(folder / "odd.tfrecord.imgpack");
  check_holds(*open_store(path), dataset);
}

TEST_CASE("every codec comes back") {
  const TempDir folder;
  const fs::path path = folder / "codecs.tfrecord";
  constexpr Codec kCodecs[] = {Codec::unknown, Codec::jpeg, Codec::png,      Codec::webp,         Codec::bmp,
                               Codec::tiff,    Codec::gif,  Codec::raw_rgb8, Codec::raw_rgb8_zstd};
  TestDataset dataset = make_plain_dataset(std::size(kCodecs));
  for (std::size_t i = 0; i < std::size(kCodecs); ++i) dataset.records[i].meta.codec = kCodecs[i];
  write_dataset(path, dataset);
  check_holds(*open_store(path), dataset);
  fs::remove(folder / "codecs.tfrecord.imgpack");
  check_holds(*open_store(path), dataset);
}

TEST_CASE("NaN bits and extreme integers of fields survive, also a rebuilt index") {
  const TempDir folder;
  const fs::path path = folder / "fields.tfrecord";
  TestDataset dataset = make_dataset(2);
  dataset.records[0].fields[0] = std::string("\0\0\0\0\0\0\0\x80", 8);
  dataset.records[0].fields[1] = std::string("\x01\0\xa0\x7f\xff\xff\xff\xff\0\0\0\x80\x01\0\0\0", 16);
  write_dataset(path, dataset);
  check_holds(*open_store(path), dataset);
  fs::remove(folder / "fields.tfrecord.imgpack");
  check_holds(*open_store(path), dataset);
}

TEST_CASE("the frame of an empty Example is the one of README.md") {
  const std::string_view expected("\0\0\0\0\0\0\0\0\x29\x03\x98\x07\xd8\xea\x82\xa2", 16);
  CHECK(frame_of(std::string()) == expected);
}

TEST_CASE("recognition goes by the first frame's CRC") {
  const std::string frame = frame_of(std::string("anything"));
  CHECK(recognise_tfrecord(as_bytes(frame), frame.size()));
  CHECK(recognise_tfrecord(as_bytes(frame).first(12), 1000));
  CHECK(!recognise_tfrecord(as_bytes(frame).first(11), 11));
  CHECK(recognise_tfrecord({}, 0));
  std::string other = frame;
  other[3] ^= 1;
  CHECK(!recognise_tfrecord(as_bytes(other), other.size()));
}

TEST_CASE("a record that is too large for protobuf is refused, and the writer goes on") {
  const TempDir folder;
  const fs::path path = folder / "large.tfrecord";
  const TestDataset dataset = make_plain_dataset(2);
  const auto writer = StoreWriter::create(path, dataset.info, tfrecord_options());
  append_records(*writer, dataset, 0, 1);
  // Only the size is looked at before it is refused: untouched pages of a sparse file cost nothing.
  File sparse = File::temporary(folder.path());
  sparse.truncate(std::uint64_t{1} << 31);
  const MappedFile mapping = MappedFile::map(sparse);
  Record record;
  record.key = "large";
  record.payload = mapping.bytes();
  record.meta.payload_size = record.payload.size();
  try {
    writer->append(record);
    FAIL("it was not refused");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::refused);
    CHECK(error.message().find("2147483647") != std::string::npos);
  }
  append_records(*writer, dataset, 1, 2);
  writer->finish();
  check_holds(*open_store(path), dataset);
  check_sound(path);
}

TEST_CASE("writers keep their hands off what is there, and leave nothing behind") {
  const TempDir folder;
  const fs::path path = folder / "set.tfrecord";
  const TestDataset dataset = make_plain_dataset(3);
  write_dataset(path, dataset);
  CHECK_THROWS_AS(StoreWriter::create(path, dataset.info, tfrecord_options()), Error);
  StoreOptions options = tfrecord_options();
  options.overwrite = true;
  const TestDataset other = make_dataset(5);
  auto writer = StoreWriter::create(path, other.info, options);
  append_records(*writer, other, 0, 5);
  check_holds(*open_store(path), dataset);
  writer->finish();
  check_holds(*open_store(path), other);
  check_sound(path);

  auto discarded = StoreWriter::create(folder / "no.tfrecord", dataset.info, tfrecord_options());
  append_records(*discarded, dataset, 0, 3);
  discarded->discard();
  discarded.reset();
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path())) ++files;
  CHECK(files == 3);
}

}  // namespace
}  // namespace imgpack::testing
