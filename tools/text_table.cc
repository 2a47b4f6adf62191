#include "tools/text_table.h"

#include <algorithm>
#include <utility>

namespace imgpack::tools {

namespace {

/// Bytes of UTF-8 that begin a code point.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }));
}

}  // namespace

TextTable::TextTable(std::vector<std::string> header) {
  for (std::string& name : header) {
    right_.push_back(name.starts_with('>'));
    if (right_.back()) name.erase(0, 1);
  }
  lines_.push_back(std::move(header));
}

void TextTable::add(std::vector<std::string> cells) {
  lines_.push_back(std::move(cells));
}

bool TextTable::is_empty(std::size_t column) const {
  return std::all_of(lines_.begin() + 1, lines_.end(), [column](const auto& line) { return line[column].empty(); });
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths(right_.size());
  for (std::size_t column = 0; column < widths.size(); ++column) {
    if (is_empty(column)) continue;
    for (const auto& line : lines_) widths[column] = std::max(widths[column], width_of(line[column]));
  }
  std::string text;
  for (const auto& cells : lines_) {
    std::string line;
    for (std::size_t column = 0; column < widths.size(); ++column) {
      if (widths[column] == 0) continue;
      if (!line.empty()) line += "  ";
      const std::string padding(widths[column] - width_of(cells[column]), ' ');
      line += right_[column] ? padding + cells[column] : cells[column] + padding;
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace imgpack::tools
