#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <hdf5.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/hdf5/hdf5_format.h"
#include "imgpack/error.h"
#include "imgpack/verify.h"
#include "tests/support/files.h"
#include "tests/support/store_fixture.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace fs = std::filesystem;

namespace {

const StoreOptions kHdf5{.format = Format::hdf5, .fingerprint = "test"};

StoreOptions resuming() {
  StoreOptions options = kHdf5;
  options.resume = true;
  return options;
}

void write_and_check(const fs::path& path, const TestDataset& dataset) {
  write_dataset(path, dataset, kHdf5);
  check_equal(*open_store(path), dataset);
  CHECK(verify(path, {}).damage_count == 0);
}

ErrorCode code_of_opening(const fs::path& path) {
  try {
    open_hdf5(path);
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("it opened");
  return ErrorCode::io;
}

/// Runs `work` in a child process whose files cannot grow beyond `limit` from then on. Says whether it threw io naming
/// `file` and the process ended in order afterwards, libhdf5's exit handler included.
bool fails_in_order(const fs::path& file, std::uintmax_t limit, const std::function<void()>& prepare,
                    const std::function<void()>& work) {
  std::cout.flush();
  const pid_t child = ::fork();
  if (child == 0) {
    bool in_order = false;
    try {
      prepare();
      std::signal(SIGXFSZ, SIG_IGN);
      const rlimit bound{limit, limit};
      ::setrlimit(RLIMIT_FSIZE, &bound);
      work();
    } catch (const Error& error) {
      in_order = error.code() == ErrorCode::io && error.place().file == file;
      if (!in_order) std::cerr << error.what() << '\n';
    }
    std::exit(in_order ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The dimensions of a dataset as libhdf5 says; empty if there is none of that name.
std::vector<hsize_t> dimensions_of(const fs::path& path, const char* dataset) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  std::vector<hsize_t> dimensions;
  if (H5Lexists(file, dataset, H5P_DEFAULT) > 0) {
    const hid_t object = H5Dopen2(file, dataset, H5P_DEFAULT);
    const hid_t space = H5Dget_space(object);
    dimensions.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, dimensions.data(), nullptr);
    H5Sclose(space);
    H5Dclose(object);
  }
  H5Fclose(file);
  return dimensions;
}

/// A file as other programs write them, in the given version of the format, with one dataset.
fs::path make_foreign(const fs::path& path, H5F_libver_t version, const char* dataset) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, version, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t size = 10;
  const hid_t space = H5Screate_simple(1, &size, nullptr);
  H5Dclose(H5Dcreate2(file, dataset, H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(space);
  H5Fclose(file);
  H5Pclose(access);
  return path;
}

}  // namespace

TEST_CASE("a payload's place in an HDF5 file is where its bytes are") {
  const TempDir dir;
  const TestDataset dataset = make_dataset({});
  write_and_check(dir / "out.h5", dataset);
  const auto store = open_store(dir / "out.h5");
  for (std::size_t i = 0; i < dataset.records.size(); ++i) {
    const PayloadPlace place = store->place(i);
    const std::vector<std::byte> bytes = read_file(*place.file);
    CHECK(as_text(std::span(bytes).subspan(place.offset, place.size)) == dataset.records[i].payload);
  }
}

TEST_CASE("raw images of one size are one array, also none of them and large ones") {
  const TempDir dir;
  struct Case {
    RawShape shape;
    std::size_t records;
  };
  // The third has rows beyond any buffer and beyond what a field's value may have.
  for (const auto& [shape, records] : {Case{{3, 5}, 9}, Case{{3, 5}, 0}, Case{{600, 700}, 3}, Case{{1, 1}, 2000}}) {
    CAPTURE(shape.height);
    CAPTURE(records);
    StoreOptions options = kHdf5;
    options.overwrite = true;
    options.raw_shape = shape;
    const TestDataset dataset =
        make_dataset({.records = records, .segments = true, .fields = true, .raw_shape = shape});
    write_dataset(dir / "out.h5", dataset, options);
    check_equal(*open_store(dir / "out.h5"), dataset);
    CHECK(verify(dir / "out.h5", {}).damage_count == 0);
    CHECK(dimensions_of(dir / "out.h5", "images") == std::vector<hsize_t>{records, shape.height, shape.width, 3});
    CHECK(dimensions_of(dir / "out.h5", "encoded").empty());
    CHECK(dimensions_of(dir / "out.h5", "offsets").empty());
  }
}

TEST_CASE("columns longer than any buffer") {
  const TempDir dir;
  TestDataset dataset = make_dataset({.records = 20'000, .payload_size = 0, .segments = true, .fields = true});
  for (TestRecord& record : dataset.records) record.payload.resize(record.payload.size() % 50);
  for (TestRecord& record : dataset.records) record.segments.resize(record.segments.size() % 50);
  write_and_check(dir / "out.h5", dataset);
}

TEST_CASE("records without bytes, a dataset without classes") {
  const TempDir dir;
  TestDataset dataset = make_dataset({.records = 3});
  for (TestRecord& record : dataset.records) record.payload.clear();
  dataset.info.classes.clear();
  write_and_check(dir / "out.h5", dataset);
}

TEST_CASE("odd field names, long class names, a description of more than 64 KiB") {
  const TempDir dir;
  TestDataset dataset = make_dataset({.records = 5, .fields = true});
  for (int i = 0; i < 2000; ++i)
    dataset.info.classes.push_back({.name = std::string(60, 'c') + std::to_string(i), .words = ""});
  dataset.info.classes.push_back({.name = std::string(5000, 'n'), .words = ""});
  dataset.info.fields[0].name = "../..";
  dataset.info.fields[1].name = "größe %";
  dataset.info.fields[2].name = ".";
  write_and_check(dir / "out.h5", dataset);
}

TEST_CASE("a thousand fields") {
  const TempDir dir;
  TestDataset dataset = make_dataset({.records = 3});
  for (int f = 0; f < 1000; ++f) {
    dataset.info.fields.push_back(
        {.name = "field " + std::to_string(f), .type = f % 2 == 0 ? FieldType::bytes : FieldType::int64, .shape = {}});
    for (TestRecord& record : dataset.records) record.fields.push_back(f % 2 == 0 ? "text" : "8 bytes.");
  }
  write_and_check(dir / "out.h5", dataset);
}

TEST_CASE("fields of many dimensions") {
  const TempDir dir;
  TestDataset dataset = make_dataset({.records = 3});
  dataset.info.fields = {{.name = "cube", .type = FieldType::float32, .shape = {7, 5, 3, 300}}};
  for (TestRecord& record : dataset.records) record.fields = {std::string(7 * 5 * 3 * 300 * 4, record.key[0])};
  write_and_check(dir / "out.h5", dataset);
}

TEST_CASE("fields that HDF5 cannot hold are refused at once") {
  const TempDir dir;
  TestDataset dataset = make_dataset({.records = 0, .fields = true});
  const auto refused = [&] {
    try {
      StoreWriter::create(dir / "out.h5", dataset.info, kHdf5)->discard();
    } catch (const Error& error) {
      fs::remove(dir / "out.h5.journal");
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  CHECK(!refused());
  dataset.info.fields[1].shape.assign(32, 1);
  CHECK(refused());
  dataset.info.fields[1].shape = {0};
  CHECK(refused());
  dataset.info.fields[1] = dataset.info.fields[0];
  CHECK(refused());
  dataset.info.fields[1].name = std::string(2000, 'n');
  CHECK(refused());
}

TEST_CASE("two writings give the same HDF5 file") {
  const TempDir dir;
  const TestDataset dataset = make_dataset({.segments = true, .fields = true});
  write_dataset(dir / "a.h5", dataset, kHdf5);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times, if there were any, have seconds
  write_dataset(dir / "b.h5", dataset, kHdf5);
  CHECK(read_file(dir / "a.h5") == read_file(dir / "b.h5"));
}

namespace {

constexpr std::size_t kFlushed = 4096;  // the writer hands rows to the kernel in groups of this size

/// Payloads of `size` bytes.
void check_resume(const TestDataset& dataset, std::size_t size, const StoreOptions& options) {
  const TempDir dir;
  write_dataset(dir / "whole.h5", dataset, options);
  const auto whole = read_file(dir / "whole.h5");
  const fs::path path = dir / "out.h5";
  const fs::path partial = dir / "out.h5.partial";
  {
    const auto writer = StoreWriter::create(path, dataset.info, options);
    append_records(*writer, dataset, 0, dataset.records.size());
  }
  std::vector<std::byte> left = read_file(partial);
  CHECK(code_of_opening(partial) == ErrorCode::damaged);
  std::size_t kept = kFlushed;
  SUBCASE("as it was left") {}
  SUBCASE("with the last payload cut short") {
    left.pop_back();
    kept = kFlushed - 1;
  }
  SUBCASE("with more in the file than the log knows") {
    left.resize(left.size() + 100'000, std::byte{7});
  }
  SUBCASE("with a payload changed") {
    left[left.size() - 100 * size] ^= std::byte{1};
    kept = kFlushed - 100;
  }
  SUBCASE("with the file lost") {
    left.clear();
    kept = 0;
  }
  SUBCASE("with all of a finished file around the payloads") {
    std::copy_n(whole.begin(), left.size() - size * kFlushed, left.begin());
    left.resize(whole.size() + 1000, std::byte{0xee});
  }
  write_file(partial, left);
  StoreOptions resume = options;
  resume.resume = true;
  const auto writer = StoreWriter::create(path, dataset.info, resume);
  CHECK(writer->records() == kept);
  append_records(*writer, dataset, kept, dataset.records.size());
  writer->finish();
  CHECK(read_file(path) == whole);
}

}  // namespace

TEST_CASE("an interrupted HDF5 file is resumed whatever state it was left in") {
  TestDataset dataset = make_dataset({.records = kFlushed + 100, .payload_size = 0, .segments = true, .fields = true});
  for (TestRecord& record : dataset.records) record.payload.resize(10);
  check_resume(dataset, 10, kHdf5);
}

TEST_CASE("an interrupted HDF5 file of raw images is resumed whatever state it was left in") {
  StoreOptions options = kHdf5;
  options.raw_shape = RawShape{.height = 2, .width = 3};
  check_resume(make_dataset({.records = kFlushed + 100, .fields = true, .raw_shape = options.raw_shape}),
               options.raw_shape->bytes(), options);
}

TEST_CASE("a file-size limit ends the writing of payloads with an error that names the file") {
  const TempDir dir;
  const TestDataset dataset = make_dataset({.records = 100, .payload_size = 20'000});
  std::unique_ptr<StoreWriter> writer;
  CHECK(fails_in_order(
      dir / "out.h5.partial", 1'000'000, [&] { writer = StoreWriter::create(dir / "out.h5", dataset.info, kHdf5); },
      [&] {
        append_records(*writer, dataset, 0, 100);
        writer->finish();
      }));
  CHECK(!fs::exists(dir / "out.h5"));
}

TEST_CASE("a file-size limit ends the finishing of a file with an error, and a resume goes on") {
  const TempDir dir;
  const fs::path path = dir / "out.h5";
  // Payloads larger than the journal, which must not be what fails.
  TestDataset dataset = make_dataset({.records = 2000, .payload_size = 0, .fields = true});
  for (TestRecord& record : dataset.records) record.payload.resize(400);
  for (int i = 0; i < 1000; ++i) dataset.info.classes.push_back({.name = "class " + std::to_string(i), .words = ""});
  write_dataset(dir / "whole.h5", dataset, kHdf5);
  const std::uintmax_t whole = fs::file_size(dir / "whole.h5");
  for (const std::uintmax_t limit : {std::uintmax_t{810'000}, std::uintmax_t{850'000}, whole - 2000, whole - 1}) {
    CAPTURE(limit);
    std::unique_ptr<StoreWriter> writer;
    CHECK(fails_in_order(
        dir / "out.h5.partial", limit,
        [&] {
          writer = StoreWriter::create(path, dataset.info, resuming());
          append_records(*writer, dataset, writer->records(), 2000);
        },
        [&] { writer->finish(); }));
    CHECK(!fs::exists(path));
  }
  const auto writer = StoreWriter::create(path, dataset.info, resuming());
  CHECK(writer->records() == 2000);
  writer->finish();
  CHECK(read_file(path) == read_file(dir / "whole.h5"));
}

TEST_CASE("foreign HDF5 files are told apart from damaged ones") {
  const TempDir dir;
  const fs::path path = dir / "foreign.h5";
  for (const char* dataset : {"data", "imgpack"}) {
    for (const H5F_libver_t version : {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_LATEST}) {
      CAPTURE(std::string(dataset));
      CAPTURE(static_cast<int>(version));
      CHECK(code_of_opening(make_foreign(path, version, dataset)) == ErrorCode::unsupported);
    }
  }
  CHECK(code_of_opening(dir / "none.h5") == ErrorCode::not_found);
}

TEST_CASE("HDF5 files are opened by many threads at once, and by children of a process that is about it") {
  const TempDir dir;
  const TestDataset dataset = make_dataset({.records = 50, .segments = true, .fields = true});
  write_dataset(dir / "out.h5", dataset, kHdf5);
  const auto opens_well = [&] {
    const auto store = open_hdf5(dir / "out.h5");
    return store->size() == 50 && as_text(store->bytes(49).payload) == dataset.records[49].payload;
  };
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) good += opens_well() ? 1 : 0;
    });
  }
  std::vector<pid_t> children;
  for (int c = 0; c < 8; ++c) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(opens_well() ? 0 : 1);
    children.push_back(child);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 200);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}
