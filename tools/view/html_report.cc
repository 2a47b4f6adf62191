#include "tools/view/html_report.h"

#include <filesystem>

#include <fmt/format.h>

#include "tools/text.h"
#include "tools/view/html_sections.h"
#include "tools/view/html_text.h"
#include "tools/view/page_assets.h"

namespace imgpack::tools {

namespace {

/// The files' names, without their folders.
std::string title_of(const Json& document) {
  std::string title;
  for (const Json& file : document["files"]) {
    const std::filesystem::path path = file["file"].get<std::string>();
    title += (title.empty() ? "" : ", ") + path.filename().string();
  }
  return title;
}

std::string head(const std::string& title) {
  // No default source, so nothing is ever loaded; the script is named by its hash, so no other one runs.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; script-src 'sha256-{}'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{} – imgpack</title>\n<style>{}</style>\n</head>\n",
      kPageScriptHash, html(title), kPageStyle);
}

std::string splits_line(const Json& document) {
  std::string line;
  for (const Json& split : document["splits"]) {
    line += fmt::format("{}{} {}", line.empty() ? "" : " · ", html(split["name"].get<std::string>()),
                        count_text(split["records"].get<std::uint64_t>()));
  }
  return line.empty() ? "no splits" : line;
}

}  // namespace

std::string html_report(const Json& document, const Pictures& pictures) {
  const std::string title = title_of(document);
  std::string page = head(title);
  page += fmt::format("<body>\n<header><h1>{}</h1>\n<p class=\"faint\">{}</p></header>\n<main>\n", html(title),
                      splits_line(document));
  page += overview_section(document);
  page += suspicious_section(document, pictures);
  page += duplicates_section(document, pictures);
  page += classes_section(document);
  page += sizes_section(document);
  page += encoding_section(document);
  page += samples_section(document, pictures);
  page += fmt::format(
      "</main>\n<script type=\"application/json\" id=\"imgpack-report\">{}</script>\n"
      "<script>{}</script>\n</body>\n</html>\n",
      script_json(document), kPageScript);
  return page;
}

}  // namespace imgpack::tools
