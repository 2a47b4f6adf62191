#include "tools/view/html_parts.h"

#include <algorithm>

#include <fmt/format.h>

#include "tools/text.h"
#include "tools/view/html_text.h"

namespace imgpack::tools {

namespace {

std::string picture_html(std::uint64_t record, const Pictures& pictures) {
  const auto found = pictures.find(record);
  if (found == pictures.end()) return {};
  const Picture& picture = found->second;
  return fmt::format(R"(<div class="picture"><img src="{}" width="{}" height="{}" alt="" loading="lazy"></div>)",
                     picture.data_uri, picture.width, picture.height);
}

/// With places where a long key may go on in the next line.
std::string key_html(std::string_view key) {
  std::string out;
  for (const char character : html(key)) {
    out += character;
    if (character == '/' || character == '_') out += "<wbr>";
  }
  return out;
}

/// What is known of "split · class", "width×height · bytes".
std::string details_html(const Json& record) {
  std::string line;
  const auto add = [&line](std::string text) { line += (line.empty() ? "" : " · ") + std::move(text); };
  for (const char* name : {"split", "class"}) {
    if (record[name].is_string()) add(html(record[name].get<std::string>()));
  }
  if (record["width"].is_number()) {
    add(fmt::format("{}×{}", record["width"].get<std::uint64_t>(), record["height"].get<std::uint64_t>()));
    add(size_text(record["payload_bytes"].get<double>()));
  }
  return line;
}

}  // namespace

std::string tile_html(std::string_view name, std::string_view id, std::uint64_t count, std::string_view tone) {
  return fmt::format(R"(<div class="tile {}"><dt>{}</dt><dd id="{}" data-value="{}">{}</dd></div>)", tone, name, id,
                     count, count_text(count));
}

std::string text_tile_html(std::string_view name, std::string_view value) {
  return fmt::format(R"(<div class="tile"><dt>{}</dt><dd>{}</dd></div>)", name, html(value));
}

std::string bars_html(const std::vector<std::pair<std::string, std::uint64_t>>& counts) {
  std::uint64_t most = 1;
  for (const auto& [name, count] : counts) most = std::max(most, count);
  std::string out = R"(<table class="bars">)";
  for (const auto& [name, count] : counts) {
    const double share = 100 * ratio(static_cast<double>(count), static_cast<double>(most));
    const std::string bar =
        count == 0 ? std::string() : fmt::format(R"(<span class="bar" style="width:{:.1f}%"></span>)", share);
    out +=
        fmt::format(R"(<tr><td>{}</td><td>{}</td><td class="number">{}</td></tr>)", html(name), bar, count_text(count));
  }
  return out + "</table>\n";
}

std::string bars_html(const Json& counts) {
  std::vector<std::pair<std::string, std::uint64_t>> list;
  for (const auto& [name, count] : counts.items()) list.emplace_back(name, count.get<std::uint64_t>());
  std::ranges::stable_sort(list, std::ranges::greater(), &std::pair<std::string, std::uint64_t>::second);
  return bars_html(list);
}

std::string record_html(const Json& record, const Pictures& pictures) {
  const auto number = record["record"].get<std::uint64_t>();
  const std::string key = record["key"].is_string() ? key_html(record["key"].get<std::string>()) : "key can't be read";
  std::string out = fmt::format(R"(<figure data-record="{}">{}<figcaption><span class="key">{}</span><br>{})", number,
                                picture_html(number, pictures), key, details_html(record));
  if (record.contains("reason")) {
    out += fmt::format(R"(<br><span class="reason">{}</span>)", html(record["reason"].get<std::string>()));
  }
  return out + "</figcaption></figure>\n";
}

}  // namespace imgpack::tools
