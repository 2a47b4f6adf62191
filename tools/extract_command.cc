// imgpack extract FILE DIR
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "imgpack/error.h"
#include "imgpack/record.h"
#include "imgpack/store.h"
#include "tools/errors.h"
#include "tools/extraction_folder.h"
#include "tools/interrupt.h"
#include "tools/packing_report.h"
#include "tools/progress.h"
#include "tools/selection.h"
#include "tools/session.h"
#include "tools/text.h"

namespace imgpack::tools {

namespace {

constexpr std::string_view kStandardOutput = "-";
constexpr std::size_t kMaxProblems = 1000;
// Payloads that were written are let go of this often, so that memory does not grow with the file.
constexpr std::uint64_t kReleaseBytes = 32u << 20;

struct Arguments {
  std::string file;
  std::string folder;
  Selection selection;
  bool overwrite = false;
};

/// A record that did not become a file.
struct Problem {
  std::uint64_t record = 0;
  std::string key;  ///< empty if it can't be read
  std::string reason;
  bool damaged = false;  ///< else its key is no safe file name
};

struct Outcome {
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::uint64_t damaged_count = 0;
  std::uint64_t refused_count = 0;
  std::vector<Problem> problems;  ///< the first kMaxProblems
  double seconds = 0;

  void add(Problem problem) {
    ++(problem.damaged ? damaged_count : refused_count);
    if (problems.size() < kMaxProblems) problems.push_back(std::move(problem));
  }
};

std::span<const std::byte> checked_payload(const StoreReader& store, std::uint64_t record) {
  const RecordBytes bytes = store.bytes(record);
  if (record_checksum(bytes.payload, bytes.segments) != store.meta(record).checksum) {
    throw Error(ErrorCode::damaged, "its bytes do not have the checksum that was stored",
                {.file = store.path().string(), .record = record, .offset = std::nullopt});
  }
  return bytes.payload;
}

void extract_record(const StoreReader& store, std::uint64_t record, ExtractionFolder& folder, Outcome& outcome) {
  std::string key;
  std::span<const std::byte> payload;
  try {
    key = store.key(record);
    payload = checked_payload(store, record);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged) throw;
    outcome.add({.record = record, .key = std::move(key), .reason = error.message(), .damaged = true});
    return;
  }
  std::string reason = folder.write(key, payload);
  if (!reason.empty()) {
    outcome.add({.record = record, .key = std::move(key), .reason = std::move(reason), .damaged = false});
    return;
  }
  ++outcome.records;
  outcome.bytes += payload.size();
}

Outcome extract_all(Session& session, const StoreReader& store, const Arguments& arguments) {
  Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  ExtractionFolder folder(arguments.folder, arguments.overwrite);
  Progress progress(session);
  const bool whole =
      arguments.selection.splits.empty() && arguments.selection.classes.empty() && arguments.selection.limit == 0;
  std::uint64_t done = 0;
  std::uint64_t released = 0;
  std::uint64_t released_bytes = 0;
  for_each_selected(store, arguments.selection, [&](std::uint64_t record) {
    extract_record(store, record, folder, outcome);
    progress.update("extracting", ++done, whole ? store.size() : 0, outcome.bytes);
    if (outcome.bytes - released_bytes >= kReleaseBytes) {
      if (record >= released) store.release(released, record + 1 - released);
      released = record + 1;
      released_bytes = outcome.bytes;
    }
    stop_if_interrupted();
    return true;
  });
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return outcome;
}

Json outcome_json(const Arguments& arguments, const Outcome& outcome) {
  Json problems = Json::array();
  for (const Problem& problem : outcome.problems) {
    problems.push_back({{"record", problem.record},
                        {"key", json_text(problem.key)},
                        {"reason", json_text(problem.reason)},
                        {"damaged", problem.damaged}});
  }
  return {{"file", json_text(arguments.file)},
          {"folder", json_text(arguments.folder)},
          {"records", outcome.records},
          {"payload_bytes", outcome.bytes},
          {"refused_count", outcome.refused_count},
          {"damaged_count", outcome.damaged_count},
          {"not_extracted", problems},
          {"seconds", outcome.seconds}};
}

void print_problems(Console& console, const Outcome& outcome) {
  std::uint64_t shown = 0;
  for (const Problem& problem : outcome.problems) {
    if (shown == kShownInText) break;
    ++shown;
    console.note(fmt::format("imgpack: not extracted: record {} {}: {}\n", problem.record,
                             printable(problem.key.substr(0, 200)), printable(problem.reason)));
  }
  const std::uint64_t all = outcome.damaged_count + outcome.refused_count;
  if (all > shown) console.note(fmt::format("imgpack: ... and {} more\n", count_text(all - shown)));
}

/// One payload, to standard output.
int write_out(Session& session, const StoreReader& store, const Arguments& arguments) {
  if (session.json || arguments.selection.keys.size() != 1) {
    throw Error(ErrorCode::invalid_argument,
                "DIR '-' writes one payload to standard output: name it with --key, "
                "and leave out --json");
  }
  for_each_selected(store, arguments.selection, [&](std::uint64_t record) {
    const std::span<const std::byte> payload = checked_payload(store, record);
    session.console.print({reinterpret_cast<const char*>(payload.data()), payload.size()});
    return true;
  });
  return kExitSuccess;
}

int run(Session& session, const Arguments& arguments) {
  const std::unique_ptr<StoreReader> store = open_store(arguments.file);
  if (arguments.folder == kStandardOutput) return write_out(session, *store, arguments);
  catch_interrupts();
  const Outcome outcome = extract_all(session, *store, arguments);
  print_problems(session.console, outcome);
  if (session.json) {
    session.console.print_json(outcome_json(arguments, outcome));
  } else if (session.speaks()) {
    const std::string rate = rate_text(outcome.records, outcome.bytes, outcome.seconds);
    session.console.print(fmt::format(
        "{}: {}, {}; {}{}{}\n", printable(arguments.folder), count_of(outcome.records, "file", "files"),
        size_text(static_cast<double>(outcome.bytes)), duration_text(outcome.seconds), rate.empty() ? "" : ", ", rate));
  }
  return outcome.damaged_count + outcome.refused_count == 0 ? kExitSuccess : kExitDamaged;
}

}  // namespace

void add_extract(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("extract", "Get the images back as files");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->file, "Packed file, manifest, quoted pattern, or name of shards")
      ->required()
      ->type_name("");
  command->add_option("DIR", arguments->folder, "Folder to write into; - writes one payload to standard output")
      ->required()
      ->type_name("");
  add_selection_options(*command, arguments->selection);
  CLI::Option* key = command->add_option("--key", arguments->selection.keys, "Only this record; may be repeated")
                         ->allow_extra_args(false)
                         ->type_name("KEY");
  for (const char* name : {"--split", "--class", "--limit"}) key->excludes(command->get_option(name));
  command->add_flag("--overwrite", arguments->overwrite, "Replace files that are there already");
  add_common_options(*command, session, true);
  command->callback([arguments, &session] {
    session.command = "extract";
    session.chosen = [arguments, &session] { return run(session, *arguments); };
  });
}

}  // namespace imgpack::tools
