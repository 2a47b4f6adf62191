#include "packer/sources/source_list.h"

#include <atomic>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mmap/file.h"
#include "packer/sources/scan_testing.h"

namespace imgpack {
namespace {

namespace fs = std::filesystem;
using namespace imgpack::testing;
using Names = std::vector<std::string>;

SourceEntry make_entry(std::string key, std::uint32_t split = 0) {
  SourceEntry entry;
  entry.key = std::move(key);
  entry.path = entry.key;
  entry.split = split;
  return entry;
}

TEST_CASE("entries come back as they were added, whatever they hold") {
  const TempDir work;
  SourceList list({.work_dir = work.path()});
  list.info.fields = {{"a", FieldType::bytes, {}}, {"b", FieldType::bytes, {}}};
  list.add_folder(work.path());
  std::vector<SourceEntry> entries;
  for (int i = 0; i < 300; ++i) {
    SourceEntry entry = make_entry(fmt::format("key{}", i) + std::string(static_cast<std::size_t>(i) * 7, 'k'));
    entry.label = i % 3 == 0 ? kNoLabel : std::int64_t{i} << (i % 60);
    entry.fields = {std::string(static_cast<std::size_t>(i % 5), '\0'), i == 77 ? std::string(3u << 20, 'f') : "x"};
    entry.size = i % 2 == 0 ? 0 : ~0ull >> (i % 64);
    entry.offset = i % 4 == 0 ? 0 : 1ull << (i % 64);
    entry.problem = i % 10 == 0 ? "broken" : "";
    if (i % 7 == 0) entry.path = "elsewhere";
    entries.push_back(entry);
    list.add(entry);
  }
  SourceEntry extreme = make_entry("");
  extreme.fields = {"", ""};
  extreme.label = INT64_MAX;
  entries.push_back(extreme);
  list.add(extreme);
  const auto source = std::move(list).finish();
  REQUIRE(source->size() == entries.size());
  SourceEntry entry;
  for (std::size_t i = entries.size(); i-- > 0;) {
    source->entry(i, entry);
    CHECK(entry.key == entries[i].key);
    CHECK(entry.label == entries[i].label);
    CHECK(entry.fields == entries[i].fields);
    CHECK(entry.size == entries[i].size);
    CHECK(entry.offset == entries[i].offset);
    CHECK(entry.problem == entries[i].problem);
    CHECK(entry.path == entries[i].path);
  }
  CHECK(error_of([&] { source->entry(source->size(), entry); }).code() == ErrorCode::invalid_argument);
}

TEST_CASE("entries are ordered by split and keep their order within one") {
  const TempDir work;
  std::vector<Names> expected(5);
  SourceList list({.work_dir = work.path()});
  for (const char* name : {"a", "b", "c", "d", "e"}) list.info.splits.push_back({name, 0, 0});
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t split = i % 50 == 0 ? 4u : static_cast<std::uint32_t>(random() % 3);  // none in "d"
    expected[split].push_back(fmt::format("k{}", i));
    list.add(make_entry(expected[split].back(), split));
  }
  const auto source = std::move(list).finish();
  std::uint64_t at = 0;
  SourceEntry entry;
  for (std::uint32_t split = 0; split < 5; ++split) {
    bool same = true;
    for (const std::string& key : expected[split]) {
      source->entry(at++, entry);
      same = same && entry.key == key && entry.split == split;
    }
    CHECK(same);
  }
  CHECK(at == source->size());

  // The digest goes by the final order: adding split after split gives the same.
  SourceList ordered({.work_dir = work.path()});
  for (const char* name : {"a", "b", "c", "d", "e"}) ordered.info.splits.push_back({name, 0, 0});
  for (std::uint32_t split = 0; split < 5; ++split) {
    for (const std::string& key : expected[split]) ordered.add(make_entry(key, split));
  }
  CHECK(std::move(ordered).finish()->digest() == source->digest());
}

TEST_CASE("the digest tells keys, labels, splits and fields apart") {
  const TempDir work;
  const auto digest = [&](const std::vector<SourceEntry>& entries) {
    SourceList list({.work_dir = work.path()});
    list.info.splits = {{"a", 0, 0}, {"b", 0, 0}};
    for (const SourceEntry& entry : entries) list.add(entry);
    return std::move(list).finish()->digest();
  };
  std::vector<SourceEntry> entries = {make_entry("one"), make_entry("two")};
  const std::uint64_t before = digest(entries);
  CHECK(digest(entries) == before);
  entries[1].label = 3;
  const std::uint64_t with_label = digest(entries);
  CHECK(with_label != before);
  entries[1].fields = {"x"};
  CHECK(digest(entries) != with_label);
  CHECK(digest({make_entry("one"), make_entry("two", 1)}) != before);
  CHECK(digest({make_entry("two"), make_entry("one")}) != before);
  CHECK(digest({make_entry("onetwo"), make_entry("")}) != before);
}

TEST_CASE("duplicate keys are refused, naming the key and both places") {
  const TempDir work;
  SourceList list({.work_dir = work.path()});
  write_file(work / "one.tar", "x");
  list.add_folder(work.path());
  const std::uint32_t tar = list.add_file(work / "one.tar");
  for (int i = 0; i < 1000; ++i) list.add(make_entry(fmt::format("k{}", i)));
  SourceEntry again = make_entry("k500");
  again.container = tar;
  again.offset = 512;
  list.add(again);
  const Error error = error_of([&] { std::move(list).finish(); });
  CHECK(error.code() == ErrorCode::refused);
  CHECK(contains(error.message(), "duplicate key 'k500': entry 500 (k500) and "));
  CHECK(contains(error.message(), "one.tar at byte 512"));
}

TEST_CASE("an empty list is refused") {
  const TempDir work;
  CHECK(error_of([&] { SourceList({.work_dir = work.path()}).finish(); }).code() == ErrorCode::refused);
}

TEST_CASE("warnings are bounded") {
  const TempDir work;
  SourceList list({.work_dir = work.path()});
  list.add(make_entry("k"));
  for (int i = 0; i < 1000; ++i) list.warn("w");
  const auto source = std::move(list).finish();
  CHECK(source->warnings().size() == 101);
  CHECK(source->warnings().back() == "900 more warnings");
}

TEST_CASE("nothing is left in the work folder") {
  const TempDir work;
  SourceList list({.work_dir = work.path()});
  list.add(make_entry("k"));
  CHECK(fs::is_empty(work.path()));
}

TEST_CASE("reading from a folder that has changed since") {
  const TempDir data, work;
  SourceList list({.work_dir = work.path()});
  list.add_folder(data.path());
  for (const char* name : {"gone", "folder", "fifo", "big", "fine", "empty"}) list.add(make_entry(name));
  SourceEntry behind = make_entry("behind");
  behind.path = "fine/behind";
  list.add(behind);
  const auto source = std::move(list).finish();
  fs::create_directory(data / "folder");
  REQUIRE(::mkfifo((data / "fifo").c_str(), 0600) == 0);
  write_file(data / "big", "");
  fs::resize_file(data / "big", kMaxEntryBytes + 1);  // sparse
  write_file(data / "fine", "fine");
  write_file(data / "empty", "");

  const auto refusal = [&](const char* name) {
    ByteBuffer bytes;
    const Error error = error_of([&] { source->read(entry_named(*source, name), bytes); });
    CHECK(error.code() == ErrorCode::refused);
    CHECK(contains(error.place().file, data.path().native()));
    return error.message();
  };
  CHECK(refusal("gone") == "vanished since it was listed");
  CHECK(refusal("behind") == "vanished since it was listed");
  CHECK(refusal("folder") == "is a folder");
  CHECK(refusal("fifo") == "is not a regular file");
  CHECK(contains(refusal("big"), "is larger than 1073741824 bytes"));
  CHECK(read_text(*source, entry_named(*source, "fine")) == "fine");
  CHECK(read_text(*source, entry_named(*source, "empty")).empty());

  // The folder itself goes away: its files are gone, wherever the name leads now.
  fs::rename(data / "fine", work / "fine");
  fs::remove_all(data.path());
  CHECK(refusal("fine") == "vanished since it was listed");
}

TEST_CASE("a file that has another size than it says is refused") {
  // /proc/self/maps and its like say that they have no bytes, and then have some: what a file looks like that grows
  // between the look at its size and the read.
  const TempDir work;
  SourceList list({.work_dir = work.path()});
  list.add_folder("/proc/self");
  list.add(make_entry("status"));
  const auto source = std::move(list).finish();
  ByteBuffer bytes;
  const Error error = error_of([&] { source->read(entry_named(*source, "status"), bytes); });
  CHECK(error.code() == ErrorCode::refused);
  CHECK(error.message() == "changed size while being read");
}

TEST_CASE("a file that grows all the time is refused or read whole, never torn") {
  const TempDir data, work;
  write_file(data / "log", "");
  SourceList list({.work_dir = work.path()});
  list.add_folder(data.path());
  list.add(make_entry("log"));
  const auto source = std::move(list).finish();
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    const File log = File::open(data / "log", File::Mode::read_write);
    const std::string line(64, 'x');
    for (std::uint64_t at = 0; !stop && at < (8u << 20); at += line.size()) {
      if (::pwrite(log.descriptor(), line.data(), line.size(), static_cast<off_t>(at)) < 0) break;
    }
  });
  ByteBuffer bytes;
  for (int i = 0; i < 300; ++i) {
    try {
      source->read(entry_named(*source, "log"), bytes);
      CHECK(as_text(bytes.bytes()) == std::string(bytes.size(), 'x'));
    } catch (const Error& error) {
      CHECK(error.message() == "changed size while being read");
    }
  }
  stop = true;
  writer.join();
}

TEST_CASE("ranges of files") {
  const TempDir data, work;
  write_file(data / "one.tar", "0123456789");
  SourceList list({.work_dir = work.path()});
  const std::uint32_t file = list.add_file(data / "one.tar");
  const auto add = [&](const char* key, std::uint64_t offset, std::uint64_t size) {
    SourceEntry entry = make_entry(key);
    entry.container = file;
    entry.offset = offset;
    entry.size = size;
    list.add(entry);
  };
  add("middle", 3, 4);
  add("all", 0, 10);
  add("none", 10, 0);
  add("beyond", 8, 3);
  add("wrap", ~0ull, 2);
  add("huge", 0, kMaxEntryBytes + 1);
  const auto source = std::move(list).finish();
  CHECK(read_text(*source, entry_named(*source, "middle")) == "3456");
  CHECK(read_text(*source, entry_named(*source, "all")) == "0123456789");
  CHECK(read_text(*source, entry_named(*source, "none")).empty());
  for (const char* key : {"beyond", "wrap", "huge"}) {
    CHECK(error_of([&] { read_text(*source, entry_named(*source, key)); }).code() == ErrorCode::refused);
  }
}

TEST_CASE("a container that is replaced before it is read") {
  const TempDir data, work;
  write_file(data / "one.tar", "0123456789");
  SourceList list({.work_dir = work.path()});
  SourceEntry entry = make_entry("k");
  entry.container = list.add_file(data / "one.tar");
  entry.size = 4;
  list.add(entry);
  const auto source = std::move(list).finish();
  SUBCASE("by one of another size") {
    write_file(data / "one.tar", "01234");
  }
  SUBCASE("by another of the same size") {
    write_file(data / "new.tar", "abcdefghij");
    fs::rename(data / "new.tar", data / "one.tar");
  }
  SUBCASE("by nothing") {
    fs::remove(data / "one.tar");
  }
  CHECK(error_of([&] { read_text(*source, entry); }).code() == ErrorCode::refused);
}

TEST_CASE("containers that are no folder, no file, or not there") {
  const TempDir data, work;
  write_file(data / "file", "x");
  SourceList list({.work_dir = work.path()});
  CHECK(error_of([&] { list.add_folder(data / "file"); }).code() == ErrorCode::refused);
  CHECK(error_of([&] { list.add_folder(data / "none"); }).code() == ErrorCode::not_found);
  CHECK(error_of([&] { list.add_file(data / "none"); }).code() == ErrorCode::not_found);
  CHECK(error_of([&] { list.add_file(data.path()); }).code() == ErrorCode::refused);
}

TEST_CASE("entries and bytes are read by many threads at once, out of more files than stay open") {
  constexpr int kFiles = 200;
  constexpr int kEntriesPerFile = 20;
  const TempDir data, work;
  SourceList list({.work_dir = work.path()});
  list.info.splits = {{"a", 0, 0}, {"b", 0, 0}};
  list.add_folder(data.path());
  write_file(data / "loose", "loose");
  for (int f = 0; f < kFiles; ++f) {
    const fs::path path = data / fmt::format("{}.tar", f);
    std::string text;
    const std::uint32_t container = [&] {
      for (int i = 0; i < kEntriesPerFile; ++i) text += fmt::format("{:04}-{:04};", f, i);
      write_file(path, text);
      return list.add_file(path);
    }();
    for (int i = 0; i < kEntriesPerFile; ++i) {
      SourceEntry entry = make_entry(fmt::format("{:04}-{:04};", f, i), static_cast<std::uint32_t>(i % 2));
      entry.container = container;
      entry.offset = static_cast<std::uint64_t>(i) * 10;
      entry.size = 10;
      list.add(entry);
    }
  }
  list.add(make_entry("loose"));
  const auto source = std::move(list).finish();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      SourceEntry entry;
      ByteBuffer bytes;
      for (int i = 0; i < 2000; ++i) {
        source->entry(random() % source->size(), entry);
        source->read(entry, bytes);
        if (as_text(bytes.bytes()) != entry.key) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace imgpack
