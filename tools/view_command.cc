// imgpack view FILE...
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "codec/jpeg/libjpeg.h"
#include "imgpack/error.h"
#include "tools/errors.h"
#include "tools/interrupt.h"
#include "tools/numbers.h"
#include "tools/output_file.h"
#include "tools/packing_options.h"
#include "tools/packing_report.h"
#include "tools/pixel_file.h"
#include "tools/progress.h"
#include "tools/selection.h"
#include "tools/session.h"
#include "tools/text.h"
#include "tools/view/collection.h"
#include "tools/view/contact_sheet.h"
#include "tools/view/dataset_facts.h"
#include "tools/view/html_report.h"
#include "tools/view/record_choice.h"
#include "tools/view/report_document.h"
#include "tools/view/report_pictures.h"

namespace imgpack::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kSheetThumbnail = 160;
constexpr std::uint32_t kReportThumbnail = 128;
constexpr int kSheetQuality = 92;

enum class Kind : std::uint8_t { facts, png, jpeg, html };

struct Arguments {
  std::vector<std::string> files;
  Selection selection;
  std::string output;
  std::string by;
  ChoiceOptions choice;
  std::uint32_t size = 0;  ///< 0: as usual
  std::uint32_t columns = 0;
  std::uint64_t max_pixels = kDefaultMaxPixels;
  unsigned threads = 0;
  bool overwrite = false;
};

[[noreturn]] void refuse(std::string message) {
  throw Error(ErrorCode::invalid_argument, std::move(message));
}

Kind kind_of(const Session& session, const Arguments& arguments) {
  if (arguments.output.empty()) {
    if (!session.json) refuse("-o sheet.png makes a contact sheet, -o report.html a report, --json prints the report");
    return Kind::facts;
  }
  std::string extension = fs::path(arguments.output).extension().string();
  std::ranges::transform(extension, extension.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  if (extension == ".png") return Kind::png;
  if (extension == ".jpg" || extension == ".jpeg") return Kind::jpeg;
  if (extension == ".html" || extension == ".htm") return Kind::html;
  refuse(
      fmt::format("{} is neither a .png nor a .jpg (contact sheet) nor a .html (report); --output takes one of these",
                  arguments.output));
}

void check_arguments(const Arguments& arguments, Kind kind) {
  const bool sheet = kind == Kind::png || kind == Kind::jpeg;
  if (!sheet && (!arguments.by.empty() || arguments.columns != 0)) {
    refuse("--by and --columns are for contact sheets: -o sheet.png");
  }
  if (kind == Kind::facts) return;
  for (const std::string& file : arguments.files) {
    std::error_code ignored;
    if (fs::equivalent(file, arguments.output, ignored))
      refuse("--output is one of the files that are to be looked at");
  }
  check_output(arguments.output, arguments.overwrite);
}

FactsOptions facts_options(const Arguments& arguments, Progress& progress) {
  FactsOptions options;
  options.threads = arguments.threads;
  options.max_pixels = arguments.max_pixels;
  options.progress = [&progress](std::uint64_t done, std::uint64_t total) {
    progress.update("looking", done, total, 0);
    return interrupted_by() == 0;
  };
  return options;
}

std::string file_names(const Arguments& arguments) {
  std::string names;
  for (const std::string& file : arguments.files) {
    names += (names.empty() ? "" : ", ") + fs::path(file).filename().string();
  }
  return printable(names);
}

Json groups_json(const std::vector<ShownGroup>& groups) {
  Json json = Json::array();
  for (const ShownGroup& group : groups) {
    json.push_back({{"name", json_text(group.name)}, {"records", group.records}, {"shown", group.shown.size()}});
  }
  return json;
}

void encode_sheet(const RgbImage& image, Kind kind, ByteBuffer& file) {
  if (kind == Kind::png) {
    make_pixel_file(image.view(), PixelFormat::png, file);
  } else {
    encode_jpeg(image.view(), kSheetQuality, Subsampling::s444, 0, file);
  }
}

int make_sheet(Session& session, const Collection& collection, const Arguments& arguments, Kind kind) {
  ChoiceOptions choice = arguments.choice;
  choice.by = show_by_from_name(arguments.by.empty() ? "order" : arguments.by).value_or(ShowBy::order);
  std::vector<ShownGroup> groups;
  std::uint64_t damaged = 0;
  if (choice.by == ShowBy::damage) {
    Progress progress(session);
    FactsOptions options = facts_options(arguments, progress);
    options.most_listed = std::max<std::size_t>(options.most_listed, choice.limit);
    const DatasetFacts facts = gather_facts(collection, options);
    damaged = facts.findings.count(Suspicion::damaged);
    groups = choose_by_damage(collection, facts, choice);
  } else {
    groups = choose_records(collection, choice);
  }
  std::uint64_t shown = 0;
  for (const ShownGroup& group : groups) shown += group.shown.size();
  const Sheet sheet =
      make_contact_sheet(collection, groups,
                         {.size = arguments.size == 0 ? kSheetThumbnail : arguments.size,
                          .columns = arguments.columns,
                          .max_pixels = arguments.max_pixels,
                          .threads = arguments.threads,
                          .title = fmt::format("{} \u00b7 {} of {}", file_names(arguments), count_text(shown),
                                               count_of(collection.size(), "record", "records"))});
  ByteBuffer file;
  encode_sheet(sheet.image, kind, file);
  write_output(arguments.output, file.bytes(), arguments.overwrite);
  damaged = std::max<std::uint64_t>(damaged, sheet.damage.size());

  if (session.json) {
    Json damage = Json::array();
    for (const ShownDamage& item : sheet.damage) {
      Json entry = shown_record_json(collection, item.record);
      entry["reason"] = json_text(item.reason);
      damage.push_back(std::move(entry));
    }
    session.console.print_json({{"output", json_text(arguments.output)},
                                {"width", sheet.image.size().width},
                                {"height", sheet.image.size().height},
                                {"records", collection.size()},
                                {"shown", shown},
                                {"groups", groups_json(groups)},
                                {"damaged_count", damaged},
                                {"damaged_shown", damage}});
  } else if (session.speaks()) {
    session.console.print(fmt::format("{}: {}x{} pixels, {} of {}{}\n", printable(arguments.output),
                                      sheet.image.size().width, sheet.image.size().height, count_text(shown),
                                      count_of(collection.size(), "record", "records"),
                                      damaged == 0 ? "" : fmt::format("; {} DAMAGED", count_text(damaged))));
  }
  return damaged == 0 ? kExitSuccess : kExitDamaged;
}

void print_summary(Console& console, const Arguments& arguments, const DatasetFacts& facts, double seconds) {
  console.print(fmt::format("{}: {}, {} of images; {}\n", printable(arguments.output),
                            count_of(facts.records, "record", "records"),
                            size_text(static_cast<double>(facts.payload_bytes)), duration_text(seconds)));
  const auto line = [&console](std::string_view name, std::uint64_t count) {
    if (count != 0) console.print(fmt::format("  {:<24} {}\n", name, count_text(count)));
  };
  for (std::size_t i = 0; i < kSuspicions; ++i) {
    const auto kind = static_cast<Suspicion>(i);
    line(to_string(kind), facts.findings.count(kind));
  }
  line("small_class", facts.small_class_count);
  line("extra copies", facts.duplicates.copies());
  line("leakage (records)", facts.duplicates.leakage_records);
}

int make_report(Session& session, const Collection& collection, const Arguments& arguments, Kind kind) {
  const auto start = std::chrono::steady_clock::now();
  DatasetFacts facts = [&] {
    Progress progress(session);
    return gather_facts(collection, facts_options(arguments, progress));
  }();
  const PicturePlan plan = plan_pictures(collection, facts, arguments.choice);
  const Json document = report_document(collection, facts, plan.samples);
  if (kind == Kind::html) {
    const PictureOptions options{.size = arguments.size == 0 ? kReportThumbnail : arguments.size,
                                 .max_pixels = arguments.max_pixels,
                                 .threads = arguments.threads};
    const std::string page = html_report(document, make_pictures(collection, plan.records, options));
    write_output(arguments.output, std::as_bytes(std::span(page)), arguments.overwrite);
  }
  if (session.json) {
    session.console.print_json(document);
  } else if (session.speaks()) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    print_summary(session.console, arguments, facts, seconds);
  }
  return facts.findings.count(Suspicion::damaged) == 0 ? kExitSuccess : kExitDamaged;
}

int run(Session& session, const Arguments& arguments) {
  const Kind kind = kind_of(session, arguments);
  check_arguments(arguments, kind);
  const Collection collection = Collection::open(arguments.files, arguments.selection);
  catch_interrupts();
  return kind == Kind::png || kind == Kind::jpeg ? make_sheet(session, collection, arguments, kind)
                                                 : make_report(session, collection, arguments, kind);
}

void add_picture_options(CLI::App& command, Arguments& arguments) {
  command.add_option("--by", arguments.by, "Groups and order of a contact sheet (default order, that of the records)")
      ->check(CLI::IsMember({"class", "split", "damage", "order"}));
  add_number_option(
      command, "--limit", {.least = 1, .most = 100'000}, [&arguments](std::uint64_t n) { arguments.choice.limit = n; },
      "Thumbnails in all (default 200)");
  add_number_option(
      command, "--per-class", {.least = 1}, [&arguments](std::uint64_t n) { arguments.choice.per_class = n; },
      "Thumbnails of one class, at most");
  add_number_option(
      command, "--size", {.least = 16, .most = 2048},
      [&arguments](std::uint64_t n) { arguments.size = static_cast<std::uint32_t>(n); },
      "Pixels of a thumbnail's longer side (default 160 on sheets, 128 in reports)");
  add_number_option(
      command, "--columns", {.least = 1, .most = 1000},
      [&arguments](std::uint64_t n) { arguments.columns = static_cast<std::uint32_t>(n); },
      "Thumbnails in a row of a contact sheet");
}

}  // namespace

void add_view(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("view", "Look at it: a contact sheet, or a report with thumbnails");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("FILE", arguments->files, "Packed files, manifests, quoted patterns, or names of shards")
      ->required()
      ->type_name("");
  command->add_option("--output,-o", arguments->output, "A .png or .jpg: contact sheet; a .html: report")
      ->type_name("OUT");
  add_picture_options(*command, *arguments);
  add_split_and_class_options(*command, arguments->selection);
  add_max_pixels_option(*command, arguments->max_pixels);
  add_threads_option(*command, arguments->threads);
  command->add_flag("--overwrite", arguments->overwrite, "Replace an existing OUT");
  add_common_options(*command, session, true);
  command->callback([arguments, &session] {
    session.command = "view";
    session.chosen = [arguments, &session] { return run(session, *arguments); };
  });
}

}  // namespace imgpack::tools
