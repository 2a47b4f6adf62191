// Columns of text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace imgpack::tools {

/// Pads what is added line by line. Widths are counted in code points: text of one column each is aligned.
class TextTable {
 public:
  /// Columns that begin with '>' are aligned to the right; the sign is not shown.
  explicit TextTable(std::vector<std::string> header);

  /// REQUIRES: as many cells as the header has. Cells are UTF-8 without line ends.
  void add(std::vector<std::string> cells);
  /// Header and lines, two blanks between columns, none at the ends of lines. Columns that are empty in all lines are
  /// left out.
  std::string text() const;

 private:
  bool is_empty(std::size_t column) const;

  std::vector<bool> right_;
  std::vector<std::vector<std::string>> lines_;  ///< the header first
};

}  // namespace imgpack::tools
