// What every format promises, asked of each that this build has.
#include "imgpack/store.h"

#include <atomic>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/backend.h"
#include "formats/each_format.h"
#include "imgpack/error.h"
#include "imgpack/verify.h"
#include "tests/support/files.h"
#include "tests/support/store_fixture.h"
#include "tests/support/thrown.h"

using namespace imgpack;
using namespace imgpack::testing;

namespace fs = std::filesystem;

TEST_CASE("every format is built in") {
  // A build without one of them is legitimate, a test run without one is not.
  for (const Format format : {Format::rec, Format::lmdb, Format::hdf5, Format::tfrecord})
    CHECK(format_available(format));
}

TEST_CASE("what goes in comes out") {
  for_each_format([](Format format) {
    for (const bool segments : {false, true}) {
      for (const bool fields : {false, true}) {
        for (const std::size_t records : {0, 1, 13}) {
          CAPTURE(records);
          TempDir dir;
          const TestDataset dataset = make_dataset({.records = records, .segments = segments, .fields = fields});
          write_dataset(output(dir, format), dataset, {.format = format});
          const auto store = open_store(output(dir, format));
          CHECK(store->format() == format);
          check_equal(*store, dataset);
          const VerifyReport report = verify(*store, {});
          CHECK(report.damage_count == 0);
          for (const Damage& damage : report.damage) MESSAGE(damage.what);
          CHECK(report.records == records);
        }
      }
    }
  });
}

TEST_CASE("payloads of all sizes, from none to larger than any buffer") {
  for_each_format([](Format format) {
    TempDir dir;
    TestDataset dataset = make_dataset({.records = 6});
    const std::size_t sizes[] = {0, 1, 63, 4096, 70'000, 3'000'000};
    for (std::size_t i = 0; i < 6; ++i) dataset.records[i].payload.resize(sizes[i], static_cast<char>('a' + i));
    write_dataset(output(dir, format), dataset, {.format = format});
    check_equal(*open_store(output(dir, format)), dataset);
  });
}

TEST_CASE("payloads lie in the mappings, which are the whole files") {
  for_each_format([](Format format) {
    for (const std::size_t records : {0, 1, 13}) {
      CAPTURE(records);
      TempDir dir;
      write_dataset(output(dir, format), make_dataset({.records = records}), {.format = format});
      const auto store = open_store(output(dir, format));
      const auto mappings = store->mappings();
      const std::uintmax_t size = fs::file_size(output(dir, format));
      REQUIRE(mappings.size() == (size == 0 ? 0 : 1));  // a TFRecord without records is an empty file
      if (mappings.empty()) continue;
      const std::span<const std::byte> mapping = mappings.front();
      CHECK(mapping.size() == size);
      CHECK(reinterpret_cast<std::uintptr_t>(mapping.data()) % static_cast<std::uintptr_t>(::getpagesize()) == 0);
      for (std::uint64_t i = 0; i < store->size(); ++i) {
        const std::span<const std::byte> payload = store->bytes(i).payload;
        CHECK(payload.data() == mapping.data() + store->place(i).offset);
        CHECK(payload.size() <= mapping.size() - store->place(i).offset);
      }
    }
  });
}

TEST_CASE("keys that are hostile, empty or very long are kept as they are") {
  for_each_format([](Format format) {
    TempDir dir;
    TestDataset dataset = make_dataset({.records = 4});
    dataset.records[0].key = "../../etc/x";
    dataset.records[1].key = "/absolute";
    dataset.records[2].key = "";
    dataset.records[3].key = std::string(70'000, 'k');
    write_dataset(output(dir, format), dataset, {.format = format});
    check_equal(*open_store(output(dir, format)), dataset);
    CHECK(verify(output(dir, format), {}).damage_count == 0);
  });
}

TEST_CASE("a writer that stops halfway is resumed to the same bytes") {
  for_each_format([](Format format) {
    TempDir dir;
    const TestDataset dataset = make_dataset({.records = 40, .segments = true, .fields = true});
    const StoreOptions options{.format = format, .fingerprint = "same", .expected_records = 40};
    StoreOptions resume = options;
    resume.resume = true;
    {
      const auto writer = StoreWriter::create(dir / "whole", dataset.info, options);
      append_records(*writer, dataset, 0, 40);
      writer->finish();
    }
    for (const std::size_t stop : {0, 1, 17, 40}) {
      CAPTURE(stop);
      const fs::path path = dir / fmt::format("resumed{}", stop);
      {
        const auto writer = StoreWriter::create(path, dataset.info, options);
        append_records(*writer, dataset, 0, stop);
      }
      CHECK_FALSE(fs::exists(path));
      CHECK(code_of([&] { StoreWriter::create(path, dataset.info, options); }) == ErrorCode::already_exists);
      StoreOptions other = resume;
      other.fingerprint = "other";
      CHECK(code_of([&] { StoreWriter::create(path, dataset.info, other); }) == ErrorCode::invalid_argument);
      {
        const auto writer = StoreWriter::create(path, dataset.info, resume);
        append_records(*writer, dataset, writer->entries(), 40);
        writer->finish();
      }
      CHECK(read_file(path) == read_file(dir / "whole"));
      CHECK_FALSE(fs::exists(path.string() + ".journal"));
      CHECK_FALSE(fs::exists(path.string() + ".partial"));
    }
  });
}

TEST_CASE("a sealed writer is finished by a resumed one, wherever publishing was interrupted") {
  for_each_format([](Format format) {
    TempDir dir;
    const TestDataset dataset = make_dataset({.records = 5});
    StoreOptions options{.format = format, .fingerprint = "f", .expected_records = 5};
    const fs::path path = output(dir, format);
    {
      const auto writer = StoreWriter::create(path, dataset.info, options);
      append_records(*writer, dataset, 0, 5);
      writer->seal();
      CHECK_FALSE(fs::exists(path));
    }
    options.resume = true;
    for (const bool only_publish : {true, false}) {
      const auto writer = StoreWriter::create(path, dataset.info, options);
      CHECK(writer->sealed() == !only_publish);  // a seal of another process is looked at again before it is published
      CHECK(writer->entries() == 5);
      if (only_publish) {
        writer->publish();
      } else {
        writer->finish();
      }
      CHECK(writer->info().records == 5);
    }
    check_equal(*open_store(path), dataset);
    CHECK_FALSE(fs::exists(path.string() + ".journal"));
  });
}

TEST_CASE("a sealed file that was damaged before it was published is mended by a resume") {
  for_each_format([](Format format) {
    TempDir dir;
    const TestDataset dataset = make_dataset({.records = 30});
    StoreOptions options{.format = format, .fingerprint = "f", .expected_records = 30};
    write_dataset(dir / "whole", dataset, options);
    const fs::path path = output(dir, format);
    {
      const auto writer = StoreWriter::create(path, dataset.info, options);
      append_records(*writer, dataset, 0, 30);
      writer->seal();
    }
    std::vector<std::byte> bytes = read_file(path.string() + ".partial");
    bytes[bytes.size() / 2] ^= std::byte{1};
    write_file(path.string() + ".partial", bytes);
    options.resume = true;
    const auto writer = StoreWriter::create(path, dataset.info, options);
    append_records(*writer, dataset, writer->entries(), 30);
    writer->finish();
    CHECK(read_file(path) == read_file(dir / "whole"));
  });
}

TEST_CASE("a resumed writer does not take an older output for the one that it sealed") {
  for_each_format([](Format format) {
    TempDir dir;
    const fs::path path = output(dir, format);
    const TestDataset old = make_dataset({.records = 2});
    write_dataset(path, old, {.format = format});
    const TestDataset dataset = make_dataset({.records = 5});
    StoreOptions options{.format = format, .overwrite = true, .fingerprint = "f", .expected_records = 5};
    {
      const auto writer = StoreWriter::create(path, dataset.info, options);
      append_records(*writer, dataset, 0, 5);
      writer->seal();
    }
    std::vector<fs::path> partial;
    for (const fs::directory_entry& entry : fs::directory_iterator(dir.path())) {
      if (entry.path().string().find(".partial") != std::string::npos) partial.push_back(entry.path());
    }
    REQUIRE_FALSE(partial.empty());
    for (const fs::path& one : partial) fs::remove(one);
    options.resume = true;
    CHECK(code_of([&] { StoreWriter::create(path, dataset.info, options)->finish(); }) == ErrorCode::damaged);
    check_equal(*open_store(path), old);
  });
}

TEST_CASE("an existing output is replaced only when asked to, and two writers do not meet") {
  for_each_format([](Format format) {
    TempDir dir;
    const fs::path path = output(dir, format);
    const TestDataset dataset = make_dataset({.records = 2});
    write_dataset(path, dataset, {.format = format});
    CHECK(code_of([&] { StoreWriter::create(path, dataset.info, {.format = format}); }) == ErrorCode::already_exists);
    CHECK_FALSE(fs::exists(path.string() + ".journal"));
    const TestDataset other = make_dataset({.records = 3});
    write_dataset(path, other, {.format = format, .overwrite = true});
    check_equal(*open_store(path), other);

    const auto writer = StoreWriter::create(dir / "busy", dataset.info, {.format = format});
    CHECK(code_of([&] { StoreWriter::create(dir / "busy", dataset.info, {.format = format, .overwrite = true}); }) ==
          ErrorCode::busy);
    writer->discard();
    CHECK_FALSE(fs::exists(dir / "busy.journal"));
    CHECK_FALSE(fs::exists(dir / "busy.partial"));
  });
}

TEST_CASE("a sealed output whose part was removed is made again") {
  for_each_format([](Format format) {
    TempDir dir;
    const TestDataset dataset = make_dataset({.records = 5});
    StoreOptions options{.format = format, .fingerprint = "f", .expected_records = 5};
    const fs::path path = output(dir, format);
    {
      const auto writer = StoreWriter::create(path, dataset.info, options);
      append_records(*writer, dataset, 0, 5);
      writer->seal();
    }
    fs::remove(path.string() + ".partial");
    options.resume = true;
    const auto writer = StoreWriter::create(path, dataset.info, options);
    CHECK_FALSE(writer->sealed());
    append_records(*writer, dataset, writer->entries(), 5 - writer->entries());
    writer->finish();
    check_equal(*open_store(path), dataset);
  });
}

TEST_CASE("links and pipes in an output's place are neither followed nor replaced") {
  for_each_format([](Format format) {
    TempDir dir;
    const TestDataset dataset = make_dataset({.records = 2});
    const StoreOptions options{.format = format, .overwrite = true};
    write_file(dir / "victim", "precious");
    for (const char* suffix : {".partial", ".journal"}) {
      CAPTURE(suffix);
      const fs::path link = output(dir, format).string() + suffix;
      fs::create_symlink(dir / "victim", link);
      CHECK(code_of([&] { StoreWriter::create(output(dir, format), dataset.info, options); }) ==
            ErrorCode::invalid_argument);
      CHECK(fs::file_size(dir / "victim") == 8);
      fs::remove(link);
    }
    REQUIRE(::mkfifo(output(dir, format).c_str(), 0600) == 0);
    CHECK(code_of([&] { StoreWriter::create(output(dir, format), dataset.info, options); }) ==
          ErrorCode::invalid_argument);
    CHECK(fs::is_fifo(output(dir, format)));
  });
}

TEST_CASE("duplicate keys are refused when the index is written") {
  for_each_format([](Format format) {
    TempDir dir;
    TestDataset dataset = make_dataset({.records = 4});
    dataset.records[3].key = dataset.records[1].key;
    CHECK(code_of([&] { write_dataset(output(dir, format), dataset, {.format = format}); }) == ErrorCode::refused);
    CHECK_FALSE(fs::exists(output(dir, format)));
  });
}

TEST_CASE("a writer refuses records that contradict the dataset") {
  TempDir dir;
  TestDataset dataset = make_dataset({.records = 1, .fields = true});
  const auto refuses = [&](auto&& change) {
    TestDataset changed = dataset;
    change(changed.records[0]);
    const auto writer = StoreWriter::create(dir / "x.rec", dataset.info, {.overwrite = true});
    return code_of([&] { append_records(*writer, changed, 0, 1); }) == ErrorCode::invalid_argument;
  };
  CHECK(refuses([](TestRecord& record) { record.meta.label = 3; }));
  CHECK(refuses([](TestRecord& record) { record.meta.label = -2; }));
  CHECK(refuses([](TestRecord& record) { record.key = "\xc3("; }));
  CHECK(refuses([](TestRecord& record) { record.key = std::string(kMaxKeyBytes + 1, 'x'); }));
  CHECK(refuses([](TestRecord& record) { record.split = 2; }));
  CHECK(refuses([](TestRecord& record) { record.fields.pop_back(); }));
  CHECK(refuses([](TestRecord& record) { record.fields[1].pop_back(); }));
}

TEST_CASE("one store serves many threads and forked children") {
  for_each_format([](Format format) {
    TempDir dir;
    const TestDataset dataset = make_dataset({.records = 50, .segments = true});
    write_dataset(output(dir, format), dataset, {.format = format});
    const auto store = open_store(output(dir, format));
    const auto all_right = [&] {
      for (std::size_t i = 0; i < 50; ++i) {
        const TestRecord& expected = dataset.records[i];
        if (as_text(store->bytes(i).payload) != expected.payload || store->key(i) != expected.key ||
            store->find(expected.key) != i) {
          return false;
        }
      }
      return true;
    };
    std::atomic<int> good{0};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t) threads.emplace_back([&] { good += all_right() ? 1 : 0; });
    }
    CHECK(good == 4);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(all_right() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(all_right());
  });
}

TEST_CASE("opening goes by content, never by name") {
  for_each_format([](Format format) {
    TempDir dir;
    const TestDataset dataset = make_dataset({.records = 3});
    write_dataset(dir / "data.anything", dataset, {.format = format});
    CHECK(open_store(dir / "data.anything")->format() == format);
    CHECK(is_packed_dataset(dir / "data.anything"));
  });
  TempDir dir;
  write_file(dir / "text.rec", "this is no rec file at all");
  CHECK_FALSE(is_packed_dataset(dir / "text.rec"));
  CHECK(code_of([&] { open_store(dir / "text.rec"); }) == ErrorCode::damaged);
  CHECK(code_of([&] { open_store(dir / "missing.rec"); }) == ErrorCode::not_found);
  CHECK(code_of([&] { open_store(dir.path()); }) == ErrorCode::invalid_argument);
  REQUIRE(::mkfifo((dir / "pipe.rec").c_str(), 0600) == 0);
  CHECK(code_of([&] { open_store(dir / "pipe.rec"); }) == ErrorCode::invalid_argument);
}

TEST_CASE("record numbers beyond the end are the caller's mistake") {
  for_each_format([](Format format) {
    TempDir dir;
    write_dataset(output(dir, format), make_dataset({.records = 3}), {.format = format});
    const auto store = open_store(output(dir, format));
    CHECK(code_of([&] { store->meta(3); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { store->bytes(~std::uint64_t{0}); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { store->key(3); }) == ErrorCode::invalid_argument);
    for (const std::uint64_t record : {std::uint64_t{2}, std::uint64_t{3}, ~std::uint64_t{0}}) {
      store->prefetch_entry(record);
    }
    store->prefetch(0, 100);
    store->release(2, 100);
    store->release(50, 1);
  });
}
