// imgpack extract FILE DIR
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "codec/decode.h"
#include "codec/other/other_image.h"
#include "imgpack/error.h"
#include "imgpack/record.h"
#include "imgpack/store.h"
#include "tools/errors.h"
#include "tools/extraction_folder.h"
#include "tools/interrupt.h"
#include "tools/packing_options.h"
#include "tools/packing_report.h"
#include "tools/pixel_file.h"
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
  std::string pixels;  ///< name of a PixelFormat; empty: payloads as they are
  std::uint64_t max_pixels = BuildOptions().max_pixels;
  bool overwrite = false;
};

/// A record that did not become a file.
struct Problem {
  std::uint64_t record = 0;
  std::string key;  ///< empty if it can't be read
  std::string reason;
  bool damaged = false;  ///< else its key is no safe file name, or it is no file
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

RecordBytes checked_bytes(const StoreReader& store, std::uint64_t record) {
  const RecordBytes bytes = store.bytes(record);
  if (record_checksum(bytes.payload, bytes.segments) != store.meta(record).checksum) {
    throw Error(ErrorCode::damaged, "its bytes do not have the checksum that was stored",
                {.file = store.path().string(), .record = record, .offset = std::nullopt});
  }
  return bytes;
}

/// What a record becomes as a file.
class FileMaker {
 public:
  FileMaker(const StoreReader& store, const Arguments& arguments)
      : store_(store),
        pixels_(pixel_format_from_name(arguments.pixels)),
        decoder_(&decode_other_image, arguments.max_pixels) {}

  /// Valid until the next call. Throws damaged; refused for pixels that are not wanted as pixels.
  std::span<const std::byte> content(std::uint64_t record) {
    const RecordBytes bytes = checked_bytes(store_, record);
    const RecordMeta meta = store_.meta(record);
    if (!pixels_) {
      const bool is_file = meta.codec != Codec::raw_rgb8 && meta.codec != Codec::raw_rgb8_zstd;
      if (is_file) return bytes.payload;
      throw Error(ErrorCode::refused, "it holds predecoded pixels and no file: --pixels png or ppm makes one");
    }
    if (const ImageResult result = decoder_.decode(meta, bytes, image_); !result.ok()) {
      throw Error(ErrorCode::damaged, "it does not decode: " + result.reason);
    }
    make_pixel_file(std::as_const(image_).view(), *pixels_, file_);
    return file_.bytes();
  }
  std::string key(std::string_view key) const { return pixels_ ? pixel_file_key(key, *pixels_) : std::string(key); }

 private:
  const StoreReader& store_;
  std::optional<PixelFormat> pixels_;
  ImageDecoder decoder_;
  RgbImage image_;
  ByteBuffer file_;
};

void extract_record(const StoreReader& store, std::uint64_t record, FileMaker& maker, ExtractionFolder& folder,
                    Outcome& outcome) {
  std::string key;
  std::span<const std::byte> content;
  try {
    key = store.key(record);
    content = maker.content(record);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::damaged && error.code() != ErrorCode::refused) throw;
    outcome.add({.record = record,
                 .key = std::move(key),
                 .reason = error.message(),
                 .damaged = error.code() == ErrorCode::damaged});
    return;
  }
  std::string reason = folder.write(maker.key(key), content);
  if (!reason.empty()) {
    outcome.add({.record = record, .key = std::move(key), .reason = std::move(reason), .damaged = false});
    return;
  }
  ++outcome.records;
  outcome.bytes += content.size();
}

Outcome extract_all(Session& session, const StoreReader& store, const Arguments& arguments) {
  Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  ExtractionFolder folder(arguments.folder, arguments.overwrite);
  FileMaker maker(store, arguments);
  Progress progress(session);
  const bool whole =
      arguments.selection.splits.empty() && arguments.selection.classes.empty() && arguments.selection.limit == 0;
  std::uint64_t done = 0;
  std::uint64_t released = 0;
  std::uint64_t released_bytes = 0;
  for_each_selected(store, arguments.selection, [&](std::uint64_t record) {
    extract_record(store, record, maker, folder, outcome);
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
  FileMaker maker(store, arguments);
  for_each_selected(store, arguments.selection, [&](std::uint64_t record) {
    const std::span<const std::byte> content = maker.content(record);
    session.console.print({reinterpret_cast<const char*>(content.data()), content.size()});
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
  command->add_option("--pixels", arguments->pixels, "Write decoded images, named KEY.ppm or KEY.png")
      ->check(CLI::IsMember({"ppm", "png"}));
  add_max_pixels_option(*command, arguments->max_pixels);
  command->add_flag("--overwrite", arguments->overwrite, "Replace files that are there already");
  add_common_options(*command, session, true);
  command->callback([arguments, &session] {
    session.command = "extract";
    session.chosen = [arguments, &session] { return run(session, *arguments); };
  });
}

}  // namespace imgpack::tools
