#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>

#include <doctest/doctest.h>
#include <hdf5.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/hdf5/hdf5_format.h"
#include "formats/hdf5/test_dataset.h"
#include "imgpack/error.h"
#include "tests/support/files.h"

namespace imgpack {

namespace {

using namespace imgpack::testing;

class Findings : public DamageSink {
 public:
  bool report(Damage damage) override {
    whats.push_back(damage.what);
    return true;
  }
  std::vector<std::string> whats;
};

void check_sound(const StoreReader& store) {
  Findings findings;
  store.check_container(findings);
  CHECK(findings.whats == std::vector<std::string>{});
}

ErrorCode code_of_opening(const std::filesystem::path& path) {
  try {
    open_hdf5(path);
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("it opened");
  return ErrorCode::io;
}

}  // namespace

TEST_CASE("what was written is what is read") {
  const TempDir dir;
  for (const TestOptions& options : {TestOptions{}, TestOptions{.fields = true}, TestOptions{.segments = true},
                                     TestOptions{.fields = true, .segments = true}, TestOptions{.records = 1},
                                     TestOptions{.records = 30'000, .fields = true, .payload_size = 3}}) {
    const TestDataset dataset = make_dataset(options);
    const auto path = dir / "out.h5";
    write_hdf5(path, dataset);
    const auto store = open_hdf5(path);
    CHECK(store->format() == Format::hdf5);
    check_same(*store, dataset);
    check_sound(*store);
    CHECK(recognise_hdf5(read_file(path), 0));
    // A payload's place is a place in the file.
    const PayloadPlace place = store->place(0);
    const std::vector<std::byte> bytes = read_file(*place.file);
    CHECK(std::ranges::equal(std::span(bytes).subspan(place.offset, place.size), dataset.records[0].payload));
  }
}

TEST_CASE("a dataset without records, and records without bytes") {
  const TempDir dir;
  for (const bool fields : {false, true}) {
    TestDataset dataset = make_dataset({.records = 0, .fields = fields});
    write_hdf5(dir / "empty.h5", dataset);
    const auto store = open_hdf5(dir / "empty.h5");
    check_same(*store, dataset);
    check_sound(*store);
  }
  TestDataset dataset = make_dataset({.records = 3});
  for (TestRecord& record : dataset.records) record.payload.clear();
  dataset.info.classes.clear();
  dataset.info.payload_bytes = 0;
  write_hdf5(dir / "hollow.h5", dataset);
  const auto store = open_hdf5(dir / "hollow.h5");
  check_same(*store, dataset);
  check_sound(*store);
}

TEST_CASE("long keys, long class names and odd field names") {
  const TempDir dir;
  TestDataset dataset = make_dataset({.records = 5, .fields = true});
  dataset.records[2].key = std::string(70'000, 'k');
  dataset.records[3].key = "";
  for (int i = 0; i < 2000; ++i) dataset.info.classes.push_back({.name = std::string(60, 'c') + std::to_string(i), .words = ""});
  dataset.info.classes.push_back({.name = std::string(5000, 'n'), .words = ""});
  dataset.info.fields[0].name = "../..";
  dataset.info.fields[1].name = "größe %";
  dataset.info.fields[2].name = "caption_offsets";
  write_hdf5(dir / "out.h5", dataset);
  const auto store = open_hdf5(dir / "out.h5");
  check_same(*store, dataset);
  check_sound(*store);
}

TEST_CASE("many fields") {
  const TempDir dir;
  TestDataset dataset = make_dataset({.records = 3});
  for (int f = 0; f < 1000; ++f) {
    dataset.info.fields.push_back({.name = "field " + std::to_string(f),
                                   .type = f % 2 == 0 ? FieldType::bytes : FieldType::int64,
                                   .shape = {}});
    for (TestRecord& record : dataset.records) record.fields.push_back(f % 2 == 0 ? "text" : "8 bytes.");
  }
  write_hdf5(dir / "out.h5", dataset);
  const auto store = open_hdf5(dir / "out.h5");
  check_same(*store, dataset);
  check_sound(*store);
}

TEST_CASE("fields that HDF5 cannot hold are refused at once") {
  const TempDir dir;
  TestDataset dataset = make_dataset({.records = 0, .fields = true});
  const auto refused = [&] {
    try {
      BackendRun(dir / "out.h5", dataset);
    } catch (const Error& error) {
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

TEST_CASE("two writings give the same bytes") {
  const TempDir dir;
  const TestDataset dataset = make_dataset({.fields = true, .segments = true});
  write_hdf5(dir / "a.h5", dataset);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // times, if there were any, have seconds
  write_hdf5(dir / "b.h5", dataset);
  CHECK(read_file(dir / "a.h5") == read_file(dir / "b.h5"));
}

TEST_CASE("a resumed writing gives the bytes of an uninterrupted one") {
  const TempDir dir;
  const TestDataset dataset = make_dataset({.records = 9, .fields = true, .segments = true});
  write_hdf5(dir / "whole.h5", dataset);
  const auto whole = read_file(dir / "whole.h5");
  const auto path = dir / "out.h5";
  const auto partial = dir / "out.h5.partial";
  for (std::size_t records = 0; records <= dataset.records.size(); ++records) {
    CAPTURE(records);
    BackendRun(path, dataset).append_until(records);
    SUBCASE("as it was left") {
      BackendRun again(path, dataset, true);
      CHECK(again.records() == records);
      again.finish();
    }
    SUBCASE("with the last payload cut short") {
      if (records > 0) std::filesystem::resize_file(partial, std::filesystem::file_size(partial) - 1);
      BackendRun again(path, dataset, true);
      CHECK(again.records() == (records == 0 ? 0 : records - 1));
      again.finish();
    }
    SUBCASE("with more in the file than the log knows") {
      std::filesystem::resize_file(partial, std::filesystem::file_size(partial) + 100'000);
      BackendRun again(path, dataset, true);
      CHECK(again.records() == records);
      again.finish();
    }
    SUBCASE("with a payload changed") {
      auto bytes = read_file(partial);
      if (records > 0) bytes.back() ^= std::byte{1};
      write_file(partial, bytes);
      BackendRun again(path, dataset, true);
      CHECK(again.records() == (records == 0 ? 0 : records - 1));
      again.finish();
    }
    SUBCASE("without the file") {
      std::filesystem::remove(partial);
      BackendRun again(path, dataset, true);
      CHECK(again.records() == 0);
      again.finish();
    }
    CHECK(read_file(path) == whole);
  }
}

TEST_CASE("finish() may be interrupted, too") {
  const TempDir dir;
  const TestDataset dataset = make_dataset({.records = 9, .fields = true});
  write_hdf5(dir / "whole.h5", dataset);
  const auto whole = read_file(dir / "whole.h5");
  // The worst that it can leave: everything of another, finished file but the payloads.
  BackendRun(dir / "out.h5", dataset).append_until(9);
  std::vector<std::byte> left(whole.size() + 1000, std::byte{0xee});
  const auto payloads = read_file(dir / "out.h5.partial");
  const std::size_t base = payloads.size() - dataset.info.payload_bytes;
  std::copy(payloads.begin() + static_cast<std::ptrdiff_t>(base), payloads.end(),
            left.begin() + static_cast<std::ptrdiff_t>(base));
  write_file(dir / "out.h5.partial", left);
  BackendRun again(dir / "out.h5", dataset, true);
  CHECK(again.records() == 9);
  again.finish();
  CHECK(read_file(dir / "out.h5") == whole);
}

TEST_CASE("an unfinished file does not open") {
  const TempDir dir;
  const TestDataset dataset = make_dataset({});
  BackendRun run(dir / "out.h5", dataset);
  run.append_until(12);
  CHECK(code_of_opening(dir / "out.h5.partial") == ErrorCode::damaged);
  run.backend().discard();
  CHECK(!std::filesystem::exists(dir / "out.h5.partial"));
}

TEST_CASE("two records with one key are refused") {
  const TempDir dir;
  TestDataset dataset = make_dataset({});
  dataset.records[7].key = dataset.records[4].key;
  BackendRun run(dir / "out.h5", dataset);
  try {
    run.finish();
    FAIL("it finished");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::refused);
  }
  CHECK(!std::filesystem::exists(dir / "out.h5"));
}

/// Runs `work` in a child process whose files cannot grow beyond `limit`, and says whether it threw io naming `file` and
/// the process ended in order afterwards, libhdf5's exit handler included.
bool fails_in_order(const std::filesystem::path& file, std::uintmax_t limit, const std::function<void()>& prepare,
                    const std::function<void()>& work) {
  std::cout.flush();
  const pid_t child = ::fork();
  if (child == 0) {
    bool in_order = false;
    prepare();
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit bound{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &bound);
    try {
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

TEST_CASE("a file-size limit ends a writing with an error that names the file") {
  const TempDir dir;
  const auto path = dir / "out.h5";
  const auto partial = dir / "out.h5.partial";
  std::unique_ptr<BackendRun> run;
  SUBCASE("while payloads are written") {
    const TestDataset dataset = make_dataset({.records = 100, .fields = true, .payload_size = 20'000});
    CHECK(fails_in_order(
        partial, 1'000'000, [&] { run = std::make_unique<BackendRun>(path, dataset); }, [&] { run->append_until(100); }));
  }
  SUBCASE("while the file is finished") {
    const TestDataset dataset = make_dataset({.records = 2000, .fields = true, .payload_size = 10});
    write_hdf5(dir / "whole.h5", dataset);
    const std::uintmax_t whole = std::filesystem::file_size(dir / "whole.h5");
    for (const std::uintmax_t limit : {std::uintmax_t{500}, whole / 3, whole / 2, whole - 2000, whole - 1}) {
      CAPTURE(limit);
      CHECK(fails_in_order(
          partial, limit,
          [&] {
            run = std::make_unique<BackendRun>(path, dataset);
            run->append_until(2000);
          },
          [&] { run->finish(); }));
    }
    // What was left is good for a resume.
    BackendRun again(path, dataset, true);
    CHECK(again.records() == 2000);
    again.finish();
    CHECK(read_file(path) == read_file(dir / "whole.h5"));
    return;
  }
  CHECK(!std::filesystem::exists(path));
}

TEST_CASE("foreign HDF5 files are told apart from damaged ones") {
  const TempDir dir;
  const auto make_foreign = [&](H5F_libver_t version, const char* dataset) {
    const auto path = (dir / "foreign.h5").string();
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
  };
  CHECK(code_of_opening(make_foreign(H5F_LIBVER_EARLIEST, "data")) == ErrorCode::unsupported);
  CHECK(code_of_opening(make_foreign(H5F_LIBVER_V18, "data")) == ErrorCode::unsupported);
  CHECK(code_of_opening(make_foreign(H5F_LIBVER_LATEST, "data")) == ErrorCode::unsupported);
  CHECK(code_of_opening(make_foreign(H5F_LIBVER_LATEST, "imgpack")) == ErrorCode::unsupported);
  CHECK(code_of_opening(dir / "none.h5") == ErrorCode::not_found);
}

TEST_CASE("reading from many threads and after fork") {
  const TempDir dir;
  const TestDataset dataset = make_dataset({.records = 200, .fields = true, .segments = true, .payload_size = 100});
  write_hdf5(dir / "out.h5", dataset);
  const auto store = open_hdf5(dir / "out.h5");
  const auto reads_well = [&](const StoreReader& reader) {
    for (std::uint64_t i = 0; i < reader.size(); ++i) {
      const RecordBytes bytes = reader.bytes(i);
      if (record_checksum(bytes.payload, bytes.segments) != reader.meta(i).checksum) return false;
      if (reader.find(dataset.records[i].key) != i) return false;
    }
    return reader.size() == dataset.records.size();
  };
  std::atomic<int> good = 0;
  const auto work = [&] {
    for (int i = 0; i < 20; ++i) good += reads_well(*store) && reads_well(*open_hdf5(dir / "out.h5")) ? 1 : 0;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back(work);
  // Children of a process whose threads are inside libhdf5 at that moment.
  std::vector<pid_t> children;
  for (int c = 0; c < 8; ++c) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(reads_well(*store) && reads_well(*open_hdf5(dir / "out.h5")) ? 0 : 1);
    children.push_back(child);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 80);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

}  // namespace imgpack
