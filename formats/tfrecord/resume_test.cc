// Builds that were interrupted at any byte end in the same files as those that were not.
#include <algorithm>
#include <map>

#include <doctest/doctest.h>

#include "formats/tfrecord/tfrecord_format.h"
#include "formats/tfrecord/tfrecord_test_support.h"
#include "imgpack/error.h"
#include "tests/support/files.h"

namespace imgpack::testing {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;

std::map<std::string, Bytes> files_of(const fs::path& path) {
  std::map<std::string, Bytes> files;
  for (const char* suffix : {"", ".idx", ".imgpack"}) files[suffix] = read_file(path.string() + suffix);
  return files;
}

/// A build that is interrupted after all its records were handed to the kernel, and whose data file then suffers.
class Interrupted {
 public:
  explicit Interrupted(const TestDataset& dataset)
      : dataset_(dataset), journal_(File::temporary(folder_.path())), log_(RecordLog::start(journal_, "test")) {
    append(*create_tfrecord_backend(context(false)), 0);
  }

  fs::path path() const { return folder_ / "set.tfrecord"; }
  fs::path partial() const { return folder_ / "set.tfrecord.partial"; }

  /// Goes on to the end and publishes; returns how many records were kept.
  std::uint64_t resume(const DatasetInfo& info) {
    const auto backend = create_tfrecord_backend(context(true));
    const std::uint64_t kept = backend->recover(journal_);
    log_ = RecordLog::resume(journal_, kept);
    append(*backend, kept);
    backend->finish(log_, info);
    for (const StoreBackend::Output& output : backend->outputs()) fs::rename(output.temporary, output.final_path);
    return kept;
  }

 private:
  BackendContext context(bool resume) const {
    return {.final_path = path(), .partial = partial(), .info = dataset_.info, .options = {}, .resume = resume};
  }

  void append(StoreBackend& backend, std::size_t begin) {
    std::vector<std::string_view> fields;
    for (std::size_t i = begin; i < dataset_.records.size(); ++i) {
      const Record record = view_of(dataset_.records[i], fields);
      LogRow row;
      row.meta = record.meta;
      row.split = record.split;
      row.key = record.key;
      row.fields = record.fields;
      backend.put(i, record, row);
      log_.append(row);
    }
    backend.flush();
    log_.flush();
  }

  TempDir folder_;
  const TestDataset& dataset_;
  File journal_;
  RecordLog log_;
};

TEST_CASE("a build that died while sealed is published") {
  const TestDataset dataset = make_dataset(5);
  const TempDir whole;
  write_dataset(whole / "set.tfrecord", dataset);
  const TempDir folder;
  const fs::path path = folder / "set.tfrecord";
  {
    const auto writer = StoreWriter::create(path, dataset.info, tfrecord_options());
    append_records(*writer, dataset, 0, 5);
    writer->seal();
  }
  // As if it had been killed after the first rename, or before any.
  SUBCASE("before any rename") {}
  SUBCASE("after the first") {
    fs::rename(path.string() + ".idx.partial", path.string() + ".idx");
  }
  SUBCASE("after the second") {
    fs::rename(path.string() + ".idx.partial", path.string() + ".idx");
    fs::rename(path.string() + ".imgpack.partial", path.string() + ".imgpack");
  }
  SUBCASE("after the last") {
    fs::rename(path.string() + ".idx.partial", path.string() + ".idx");
    fs::rename(path.string() + ".imgpack.partial", path.string() + ".imgpack");
    fs::rename(path.string() + ".partial", path);
  }
  StoreOptions options = tfrecord_options();
  options.resume = true;
  StoreWriter::create(path, dataset.info, options)->finish();
  CHECK(files_of(path) == files_of(whole / "set.tfrecord"));
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path())) ++files;
  CHECK(files == 3);
}

TEST_CASE("a resumed build keeps what is intact, wherever the data end or are damaged, and gives the same bytes") {
  const TestDataset dataset = make_dataset(5);
  const TempDir whole;
  write_dataset(whole / "set.tfrecord", dataset);
  const auto expected = files_of(whole / "set.tfrecord");
  const Bytes& data = expected.at("");
  const auto store = open_store(whole / "set.tfrecord");
  /// How many records end before `offset`, which is not their last byte but four: the CRC follows the payload.
  const auto whole_before = [&](std::size_t offset) {
    std::uint64_t records = 0;
    while (records < store->size() && store->place(records).offset + store->place(records).size + 4 <= offset)
      ++records;
    return records;
  };
  {
    Interrupted build(dataset);
    CHECK(read_file(build.partial()) == data);
    CHECK(build.resume(store->info()) == 5);
    CHECK(files_of(build.path()) == expected);
  }
  std::vector<std::size_t> offsets;
  for (std::uint64_t i = 0; i < store->size(); ++i) {
    const PayloadPlace place = store->place(i);
    for (const std::uint64_t offset : {place.offset - 200, place.offset, place.offset + place.size / 2,
                                       place.offset + place.size, place.offset + place.size + 3})
      offsets.push_back(offset);
    if (i + 1 < store->size()) offsets.push_back(place.offset + place.size + 4);  // between two frames
  }
  for (const std::size_t at : offsets) {
    CAPTURE(at);
    Interrupted cut(dataset);
    fs::resize_file(cut.partial(), at);
    REQUIRE(cut.resume(store->info()) == whole_before(at));
    REQUIRE(files_of(cut.path()) == expected);

    Interrupted flipped(dataset);
    Bytes damaged = data;
    damaged[at] ^= std::byte{16};
    write_file(flipped.partial(), damaged);
    REQUIRE(flipped.resume(store->info()) == whole_before(at));
    REQUIRE(files_of(flipped.path()) == expected);
  }
  Interrupted lost(dataset);
  fs::remove(lost.partial());
  CHECK(lost.resume(store->info()) == 0);
  CHECK(files_of(lost.path()) == expected);
}

}  // namespace
}  // namespace imgpack::testing
