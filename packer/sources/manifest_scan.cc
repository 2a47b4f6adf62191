// Manifests: a header line and one row an image, in two passes over the file. The first finds what depends on all rows
// (classes, splits, field types), the second adds the entries; neither keeps rows.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "formats/columns.h"
#include "formats/text.h"
#include "packer/sources/containers.h"
#include "packer/sources/delimited_reader.h"
#include "packer/sources/field_cells.h"
#include "packer/sources/folder_filler.h"
#include "packer/sources/scans.h"
#include "packer/sources/text.h"

namespace imgpack {

namespace {

constexpr std::size_t kMaxManifestSplits = 256;
constexpr std::size_t kMaxLabelNames = 1u << 20;
constexpr std::size_t kMaxLabelNameBytes = 64u << 20;

/// Which column is what.
struct Columns {
  struct Field {
    std::size_t column;
    FieldSpec spec;
    bool inferred;
  };
  std::size_t count = 0;
  std::size_t path = 0;
  std::optional<std::size_t> label;
  std::optional<std::size_t> split;
  std::optional<std::size_t> key;
  std::vector<Field> fields;
};

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

Columns::Field field_column(const DelimitedReader& reader, std::size_t column, std::string_view cell) {
  try {
    DeclaredField declared = parse_field_declaration(cell);
    for (const std::string_view reserved : {"path", "label", "split", "key"}) {
      if (declared.name == reserved) {
        throw Error(ErrorCode::refused, fmt::format("the column '{}' takes no type", reserved));
      }
    }
    return {column,
            {std::move(declared.name), declared.type.value_or(FieldType::bytes), std::move(declared.shape)},
            !declared.type.has_value()};
  } catch (const Error& error) {
    throw reader.error(ErrorCode::damaged, error.message());
  }
}

Columns read_header(DelimitedReader& reader) {
  if (!reader.next()) throw reader.error(ErrorCode::damaged, "the manifest is empty: no header line");
  Columns columns;
  columns.count = reader.cells().size();
  std::optional<std::size_t> path;
  std::set<std::string, std::less<>> names;
  for (std::size_t i = 0; i < columns.count; ++i) {
    const std::string_view cell = trim(reader.cells()[i]);
    std::string name(cell);
    if (cell == "path") {
      path = i;
    } else if (cell == "label") {
      columns.label = i;
    } else if (cell == "split") {
      columns.split = i;
    } else if (cell == "key") {
      columns.key = i;
    } else {
      columns.fields.push_back(field_column(reader, i, cell));
      name = columns.fields.back().spec.name;
    }
    if (!names.insert(name).second) {
      throw reader.error(ErrorCode::damaged, fmt::format("two columns are called '{}'", printable(name)));
    }
  }
  if (!path) throw reader.error(ErrorCode::damaged, "the header line has no column 'path'");
  if (columns.fields.size() > kMaxFields) {
    throw reader.error(ErrorCode::damaged, fmt::format("more than {} field columns", kMaxFields));
  }
  columns.path = *path;
  return columns;
}

/// The next row after the header, with as many cells as that has; false at the end.
bool next_row(DelimitedReader& reader, const Columns& columns) {
  if (!reader.next()) return false;
  if (reader.cells().size() != columns.count) {
    throw reader.error(ErrorCode::damaged,
                       fmt::format("{} cells where the header line has {}", reader.cells().size(), columns.count));
  }
  if (reader.cells()[columns.path].empty()) throw reader.error(ErrorCode::damaged, "the path is empty");
  return true;
}

/// Labels: numbers if all cells are, else names.
class LabelSurvey {
 public:
  void see(const DelimitedReader& reader, std::string_view cell) {
    if (cell.empty()) return;
    if (all_numbers_) {
      const std::optional<std::int64_t> number = parse_int64(cell);
      all_numbers_ = number.has_value();
      if (number && *number < kNoLabel && !below_) below_ = reader.error(ErrorCode::damaged, "the label is below -1");
    }
    // Names are kept even while all are numbers: one that is none may still come.
    if (!overflow_ && !names_.contains(cell)) {
      overflow_ = names_.size() == kMaxLabelNames || name_bytes_ + cell.size() > kMaxLabelNameBytes;
      if (!overflow_) names_.emplace(cell);
      name_bytes_ += cell.size();
    }
    if (overflow_ && !all_numbers_) {
      throw reader.error(ErrorCode::damaged, fmt::format("more than {} classes, or {} bytes of their names",
                                                         kMaxLabelNames, kMaxLabelNameBytes));
    }
  }

  /// Class names, sorted; none if labels are numbers.
  std::vector<std::string> classes() {
    if (!all_numbers_) return {names_.begin(), names_.end()};
    if (below_) throw Error(*below_);
    return {};
  }

 private:
  bool all_numbers_ = true;
  bool overflow_ = false;
  std::size_t name_bytes_ = 0;
  std::set<std::string, std::less<>> names_;
  std::optional<Error> below_;
};

/// What the first pass finds.
struct Survey {
  std::vector<std::string> classes;
  std::vector<std::string> splits;  ///< in order of first appearance
  std::map<std::string, std::uint32_t, std::less<>> split_numbers;
};

void see_split(const DelimitedReader& reader, std::string_view cell, Survey& survey) {
  if (survey.split_numbers.contains(cell)) return;
  if (cell.empty()) throw reader.error(ErrorCode::damaged, "the split is empty");
  if (!is_utf8(cell)) throw reader.error(ErrorCode::damaged, "the name of the split is not UTF-8");
  if (survey.splits.size() == kMaxManifestSplits) {
    throw reader.error(ErrorCode::damaged, fmt::format("more than {} different splits", kMaxManifestSplits));
  }
  survey.split_numbers.emplace(cell, static_cast<std::uint32_t>(survey.splits.size()));
  survey.splits.emplace_back(cell);
}

/// Reads all rows; sets the types of `columns.fields` that were not declared.
Survey survey_rows(DelimitedReader& reader, Columns& columns) {
  Survey survey;
  LabelSurvey labels;
  std::vector<TypeGuess> guesses(columns.fields.size());
  std::uint64_t rows = 0;
  for (; next_row(reader, columns); ++rows) {
    const std::vector<std::string_view>& cells = reader.cells();
    if (columns.label) labels.see(reader, cells[*columns.label]);
    if (columns.split) see_split(reader, cells[*columns.split], survey);
    for (std::size_t i = 0; i < guesses.size(); ++i) {
      if (columns.fields[i].inferred) guesses[i].see(cells[columns.fields[i].column]);
    }
  }
  if (rows == 0) throw reader.error(ErrorCode::refused, "the manifest has a header line but no rows");
  for (std::size_t i = 0; i < guesses.size(); ++i) {
    if (columns.fields[i].inferred) columns.fields[i].spec.type = guesses[i].type();
  }
  survey.classes = labels.classes();
  return survey;
}

std::int64_t label_of(const DelimitedReader& reader, std::string_view cell, const std::vector<std::string>& classes) {
  if (cell.empty()) return kNoLabel;
  if (classes.empty()) {
    if (const std::optional<std::int64_t> number = parse_int64(cell)) return *number;
  } else {
    const auto found = std::lower_bound(classes.begin(), classes.end(), cell, std::less<>());
    if (found != classes.end() && *found == cell) return found - classes.begin();
  }
  throw reader.error(ErrorCode::refused, "the manifest changed while being read");
}

/// The path without what would lead out of a folder: "/data/./a.jpg" gives "data/a.jpg", "../b/a.jpg" gives "b/a.jpg".
std::string key_of_path(std::string_view path) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string key;
  for (const std::string_view part : parts) key = key.empty() ? std::string(part) : join_path(key, part);
  return key.empty() ? std::string(path) : key;
}

void fill_fields(const DelimitedReader& reader, const Columns& columns, SourceEntry& entry) {
  for (std::size_t i = 0; i < columns.fields.size(); ++i) {
    const Columns::Field& field = columns.fields[i];
    if (encode_field(field.spec, reader.cells()[field.column], entry.fields[i])) continue;
    throw reader.error(ErrorCode::damaged, fmt::format("'{}' in column '{}' is no {}",
                                                       printable(reader.cells()[field.column].substr(0, 80)),
                                                       printable(field.spec.name), describe_type(field.spec)));
  }
}

/// Fills `entry.size`, or `entry.problem` where the file can't be looked at.
void look_up_size(const File& folder, SourceEntry& entry) {
  struct stat status {};
  entry.size = 0;
  entry.problem.clear();
  if (::fstatat(folder.descriptor(), entry.path.c_str(), &status, 0) == 0) {
    entry.size = static_cast<std::uint64_t>(status.st_size);
  } else if (const char* problem = entry_problem(errno)) {
    entry.problem = problem;
  }
}

void add_rows(DelimitedReader& reader, const Columns& columns, const Survey& survey, std::uint32_t container,
              const File* size_folder, SourceList& list) {
  SourceEntry entry;
  entry.container = container;
  entry.fields.resize(columns.fields.size());
  while (next_row(reader, columns)) {
    const std::vector<std::string_view>& cells = reader.cells();
    entry.path = cells[columns.path];
    if (columns.key && !cells[*columns.key].empty()) {
      entry.key = cells[*columns.key];
    } else {
      entry.key = key_of_path(entry.path);
    }
    if (columns.label) entry.label = label_of(reader, cells[*columns.label], survey.classes);
    if (columns.split) {
      const auto split = survey.split_numbers.find(cells[*columns.split]);
      if (split == survey.split_numbers.end()) {
        throw reader.error(ErrorCode::refused, "the manifest changed while being read");
      }
      entry.split = split->second;
    }
    fill_fields(reader, columns, entry);
    entry.offset = reader.line();
    if (size_folder != nullptr) look_up_size(*size_folder, entry);
    list.add(entry);
  }
}

/// The separator by which the first line of `head` has a cell "path".
std::optional<char> separator_of(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  head.remove_prefix(std::min(head.find_first_not_of("\r\n"), head.size()));
  const std::string_view line = head.substr(0, head.find_first_of(std::string_view("\r\n\0", 3)));
  for (const char separator : {'\t', ','}) {
    for (std::string_view rest = line;;) {
      const std::size_t length = std::min(rest.find(separator), rest.size());
      const std::string_view cell = trim(rest.substr(0, length));
      if (cell == "path" || cell == "\"path\"") return separator;
      if (length == rest.size()) break;
      rest.remove_prefix(length + 1);
    }
  }
  return std::nullopt;
}

std::string read_head(const File& file) {
  std::string head(1u << 16, '\0');
  head.resize(file.read_some_at(0, std::as_writable_bytes(std::span(head.data(), head.size()))));
  return head;
}

/// ',' or '\t' if the name says that it is a table.
std::optional<char> separator_of_name(const std::filesystem::path& path) {
  const std::string extension = ascii_lower(path.extension().native());
  if (extension == ".csv") return ',';
  if (extension == ".tsv") return '\t';
  return std::nullopt;
}

}  // namespace

bool is_manifest(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  return separator_of_name(path).has_value() || separator_of(read_head(File::open(path, File::Mode::read))).has_value();
}

void scan_manifest(const std::filesystem::path& path, const SourceOptions& options, SourceList& list) {
  const File file = File::open(path, File::Mode::read);
  // A separator that makes a column "path" wins over the name: tables with tabs are often called .csv.
  const char separator = separator_of(read_head(file)).value_or(separator_of_name(path).value_or(','));
  const std::filesystem::path folder = folder_of(path);
  const std::uint32_t container = list.add_folder(folder);
  list.info.source_kind = "manifest";
  list.info.source_name = source_name_of(path);

  DelimitedReader reader(file, separator);
  Columns columns = read_header(reader);
  const Survey survey = survey_rows(reader, columns);
  for (const std::string& name : survey.classes)
    list.info.classes.push_back({.name = printable_utf8(name), .words = {}});
  for (const std::string& name : survey.splits) list.info.splits.push_back({.name = name, .begin = 0, .end = 0});
  for (const Columns::Field& field : columns.fields) list.info.fields.push_back(field.spec);

  reader.rewind();
  read_header(reader);
  const std::optional<File> size_folder = options.need_sizes ? std::optional(open_folder(folder)) : std::nullopt;
  add_rows(reader, columns, survey, container, size_folder ? &*size_folder : nullptr, list);
}

}  // namespace imgpack
