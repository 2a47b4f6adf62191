#include "tools/view/html_sections.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tools/text.h"
#include "tools/view/html_parts.h"
#include "tools/view/html_text.h"

namespace imgpack::tools {

namespace {

std::uint64_t number(const Json& json) {
  return json.get<std::uint64_t>();
}

std::string text(const Json& json) {
  return json.get<std::string>();
}

std::string listed_note(std::uint64_t listed, std::uint64_t count) {
  if (listed == count) return {};
  return fmt::format("<p class=\"faint\">The first {} of {} are shown.</p>\n", count_text(listed), count_text(count));
}

std::string file_row(const Json& file) {
  std::string made;
  for (const auto& [key, value] : file["transform"].items()) {
    made += fmt::format("{}{} = {}", made.empty() ? "" : ", ", key, text(value));
  }
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td>{} ({})</td><td>{}</td><td>{}</td></tr>",
      html(text(file["file"])), html(text(file["format"])), count_text(number(file["records"])),
      html(text(file["source_name"])), html(text(file["source_kind"])), html(made), html(text(file["tool_version"])));
}

/// The name of a histogram's bucket.
using NameOf = std::string (*)(double);

std::string histogram_html(const Json& histogram, NameOf name_of) {
  std::size_t first = 0;
  std::size_t end = histogram.size();
  while (first < end && number(histogram[first]["records"]) == 0) ++first;
  while (end > first && number(histogram[end - 1]["records"]) == 0) --end;
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (std::size_t i = first; i < end; ++i) {
    const Json& bucket = histogram[i];
    const double from = bucket["from"].get<double>();
    const std::string name = bucket["below"].is_null() ? name_of(from) + " and more"
                             : from == 0
                                 ? "below " + name_of(bucket["below"].get<double>())
                                 : fmt::format("{} – {}", name_of(from), name_of(bucket["below"].get<double>()));
    counts.emplace_back(name, number(bucket["records"]));
  }
  return bars_html(counts);
}

std::string pixels_name(double value) {
  return fmt::format("{:.0f}", value);
}

std::string aspect_name(double value) {
  return value < 1 ? fmt::format("1:{:.3g}", 1 / value) : fmt::format("{:.3g}:1", value);
}

std::string bytes_name(double value) {
  const bool mebi = value >= 1 << 20;
  return fmt::format("{:.0f} {}", mebi ? value / (1 << 20) : value / (1 << 10), mebi ? "MiB" : "KiB");
}

struct KindText {
  std::string_view name;
  std::string_view title;
  std::string_view meaning;
};
constexpr KindText kKinds[] = {
    {"damaged", "Damaged", "Their checksum is wrong, they can't be read, or they do not decode."},
    {"incomplete_jpeg", "JPEG that does not decode cleanly to its end",
     "Their data break off or are damaged on the way; decoders make up the rest."},
    {"not_decoded", "Not decoded", "Larger than --max-pixels, or of a type that this build can't decode."},
    {"tiny", "Tiny", "The shorter side is below 32 pixels."},
    {"extreme_aspect", "Extreme aspect", "One side is more than four times the other."},
    {"gray", "Gray among colour", "Without colour, while nearly all others have it."},
};

std::string records_grid(const Json& records, const Pictures& pictures) {
  std::string out = "<div class=\"grid\">\n";
  for (const Json& record : records) out += record_html(record, pictures);
  return out + "</div>\n";
}

std::string small_classes_html(const Json& kind, const Pictures& pictures) {
  std::string out = fmt::format("<h3 id=\"small_class\">Classes with very few records: {}</h3>\n<div class=\"grid\">\n",
                                count_text(number(kind["count"])));
  for (const Json& item : kind["listed"]) {
    Json record = item["example"];
    if (record.is_object()) {
      record["reason"] = item["reason"];
      out += record_html(record, pictures);
    } else {
      out += fmt::format(
          "<figure><figcaption><span class=\"key\">{}</span><br><span "
          "class=\"reason\">{}</span></figcaption></figure>\n",
          html(text(item["class"])), html(text(item["reason"])));
    }
  }
  return out + "</div>\n" + listed_note(kind["listed"].size(), number(kind["count"]));
}

}  // namespace

std::string overview_section(const Json& document) {
  const Json& suspicious = document["suspicious"];
  const Json& duplicates = document["duplicates"];
  const auto tone = [](std::uint64_t count, std::string_view loud) { return count == 0 ? std::string_view() : loud; };
  const std::uint64_t damaged = number(suspicious["damaged"]["count"]);
  const std::uint64_t copies = number(duplicates["copies"]);
  const std::uint64_t leakage = number(duplicates["leakage"]["records"]);
  std::string out = "<dl class=\"tiles\">\n";
  out += tile_html("Records", "count-records", number(document["records"]), "");
  out += tile_html("Classes", "count-classes", number(document["class_count"]), "");
  out += text_tile_html("Images", size_text(document["payload_bytes"].get<double>()));
  out += text_tile_html("Pixels", fmt::format("{:.1f} M", document["pixels"].get<double>() / 1e6));
  out += tile_html("Damaged", "count-damaged", damaged, tone(damaged, "alarm"));
  out += tile_html("Extra copies", "count-copies", copies, tone(copies, "mark"));
  out += tile_html("Leakage: records", "count-leakage", leakage, tone(leakage, "alarm"));
  out +=
      "</dl>\n<h2>Files</h2>\n<table><thead><tr><th>File</th><th>Format</th><th class=\"number\">Records</th>"
      "<th>Source</th><th>Made with</th><th>imgpack</th></tr></thead><tbody>\n";
  for (const Json& file : document["files"]) out += file_row(file);
  return out + "</tbody></table>\n";
}

std::string classes_section(const Json& document) {
  std::string out = fmt::format("<h2>Classes</h2>\n<p class=\"faint\" id=\"shown-classes\">{}</p>\n",
                                count_of(number(document["class_count"]), "class", "classes"));
  if (number(document["unlabelled"]) != 0) {
    out += fmt::format("<p>{} without a class.</p>\n", count_of(number(document["unlabelled"]), "record", "records"));
  }
  if (document["classes"].empty()) return out;
  out += "<div class=\"scroll\"><table class=\"sortable filterable\"><thead><tr><th data-sort=\"text\">Class</th>";
  const bool words =
      std::ranges::any_of(document["classes"], [](const Json& item) { return !text(item["words"]).empty(); });
  if (words) out += "<th data-sort=\"text\">Words</th>";
  for (const Json& split : document["splits"]) {
    out += fmt::format("<th class=\"number\" data-sort=\"number\">{}</th>", html(text(split["name"])));
  }
  out += "<th class=\"number\" data-sort=\"number\">All</th></tr></thead><tbody>\n";
  const auto cell = [](std::uint64_t count) {
    return fmt::format("<td class=\"number\" data-value=\"{}\">{}", count, count_text(count));
  };
  for (const Json& item : document["classes"]) {
    out += "<tr><td>" + html(text(item["name"]));
    if (words) out += "<td>" + html(text(item["words"]));
    for (const Json& count : item["by_split"]) out += cell(number(count));
    out += cell(number(item["records"])) + "\n";
  }
  out += "</tbody><tfoot><tr><th>All";
  if (words) out += "<th>";
  for (const Json& split : document["splits"]) out += cell(number(split["records"]));
  out += cell(number(document["records"])) + "</tfoot></table></div>\n";
  return out + listed_note(document["classes"].size(), number(document["class_count"]));
}

std::string sizes_section(const Json& document) {
  const Json& histograms = document["histograms"];
  return "<h2>Sizes</h2>\n<div class=\"columns\">\n<div><h3>Width, pixels</h3>" +
         histogram_html(histograms["width"], pixels_name) + "</div>\n<div><h3>Height, pixels</h3>" +
         histogram_html(histograms["height"], pixels_name) + "</div>\n<div><h3>Aspect, width:height</h3>" +
         histogram_html(histograms["aspect"], aspect_name) + "</div>\n<div><h3>Bytes</h3>" +
         histogram_html(histograms["bytes"], bytes_name) + "</div>\n</div>\n";
}

std::string encoding_section(const Json& document) {
  const Json& index = document["segment_index"];
  std::string out = "<h2>Encoding</h2>\n<div class=\"columns\">\n<div><h3>Codecs</h3>" + bars_html(document["codecs"]);
  out += "</div>\n<div><h3>JPEG: subsampling, or what is special</h3>" + bars_html(document["jpeg_kinds"]);
  out += "</div>\n<div><h3>EXIF orientation</h3>" + bars_html(document["orientations"]);
  out += fmt::format("</div>\n<div><h3>Segment index</h3><p>{} of {} have one ({}).</p>",
                     count_text(number(index["records"])), count_of(number(document["records"]), "record", "records"),
                     percent_text(number(index["records"]), number(document["records"])));
  if (!index["without"].empty()) out += "<p class=\"faint\">Why others have none:</p>" + bars_html(index["without"]);
  return out + "</div>\n</div>\n";
}

std::string duplicates_section(const Json& document, const Pictures& pictures) {
  const Json& duplicates = document["duplicates"];
  const std::uint64_t groups = number(duplicates["groups"]);
  std::string out = "<h2 id=\"duplicates\">Duplicates</h2>\n";
  if (groups == 0) return out + "<p>No two records have the same payload.</p>\n";
  const Json& leakage = duplicates["leakage"];
  out += fmt::format("<p>{} share their payload with others, in {}: {} beyond the first.</p>\n",
                     count_of(number(duplicates["records"]), "record", "records"), count_of(groups, "group", "groups"),
                     count_of(number(duplicates["copies"]), "copy", "copies"));
  if (number(leakage["groups"]) != 0) {
    out += fmt::format("<p><span class=\"flag leakage\">leakage</span>{} in {} lie in more than one split.</p>\n",
                       count_of(number(leakage["records"]), "record", "records"),
                       count_of(number(leakage["groups"]), "group", "groups"));
  }
  if (number(duplicates["class_conflicts"]) != 0) {
    out += fmt::format("<p><span class=\"flag conflict\">different classes</span>{}.</p>\n",
                       count_of(number(duplicates["class_conflicts"]), "group", "groups"));
  }
  for (const Json& group : duplicates["listed"]) {
    out += fmt::format("<div class=\"group\" data-hash=\"{}\"><p>", html(text(group["payload_hash"])));
    if (group["leakage"].get<bool>()) out += "<span class=\"flag leakage\">leakage</span>";
    if (group["class_conflict"].get<bool>()) out += "<span class=\"flag conflict\">different classes</span>";
    out += fmt::format("<span class=\"faint\">{} · payload hash <code>{}</code></span></p>\n",
                       count_of(number(group["records"]), "record", "records"), html(text(group["payload_hash"])));
    out += records_grid(group["members"], pictures) + "</div>\n";
  }
  return out + listed_note(duplicates["listed"].size(), groups);
}

std::string suspicious_section(const Json& document, const Pictures& pictures) {
  const Json& suspicious = document["suspicious"];
  std::string body;
  for (const KindText& kind : kKinds) {
    const Json& found = suspicious[std::string(kind.name)];
    const std::uint64_t count = number(found["count"]);
    if (count == 0) continue;
    body += fmt::format("<h3 id=\"{}\">{}: <span data-value=\"{}\">{}</span></h3>\n<p class=\"faint\">{}</p>\n",
                        kind.name, kind.title, count, count_text(count), kind.meaning);
    body += records_grid(found["listed"], pictures) + listed_note(found["listed"].size(), count);
  }
  if (number(suspicious["small_class"]["count"]) != 0) body += small_classes_html(suspicious["small_class"], pictures);
  if (body.empty()) body = "<p>Nothing: every record decodes, and none stands out.</p>\n";
  return "<h2 id=\"suspicious\">Suspicious</h2>\n" + body;
}

std::string samples_section(const Json& document, const Pictures& pictures) {
  if (document["samples"].empty()) return {};
  std::string out = "<h2>Samples</h2>\n";
  for (const Json& group : document["samples"]) {
    out += fmt::format("<h3>{} <span class=\"faint\">{} of {}</span></h3>\n", html(text(group["class"])),
                       count_text(group["shown"].size()), count_text(number(group["records"])));
    out += records_grid(group["shown"], pictures);
  }
  return out;
}

}  // namespace imgpack::tools
