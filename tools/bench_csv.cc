// bench's results as CSV.
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "tools/bench_report.h"
#include "tools/text.h"

namespace imgpack::tools {

using measure::Row;

namespace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char letter : text) {
    if (letter == '"') field += '"';
    field += letter;
  }
  return field + '"';
}

/// In the order of kCsvHeader.
class CsvLine {
 public:
  void add(std::string_view text) { line_ += (line_.empty() ? "" : ",") + csv_field(text); }
  void add(double value) { add(std::string_view(fmt::format("{:.6g}", value))); }
  void add(std::uint64_t value) { add(std::string_view(std::to_string(value))); }
  template <class Value>
  void add(const std::optional<Value>& value) {
    value ? add(*value) : add(std::string_view());
  }
  std::string text() const { return line_ + "\r\n"; }

 private:
  std::string line_;
};

constexpr std::string_view kCsvHeader =
    "measure,file,kind,Dataloader,Disk,GPU,Batch size,Time(s),Steps,Samples/s,Speed,GPU Efficiency,unit,rounds,"
    "lower quartile,upper quartile,spread,noisy,bytes/s,CPU us/sample,cold,resident before,resident after,total "
    "bytes,note\r\n";

template <class Value>
std::optional<Value> only_if(bool condition, Value value) {
  return condition ? std::optional<Value>(value) : std::nullopt;
}

std::string csv_line(const BenchReport& report, const Row& row) {
  const BenchSubject& subject = report.subject_of(row);
  const bool loading = is_loading(row.measure);
  const bool measured = row.measured();
  const measure::RowRun typical = measured ? row.typical() : measure::RowRun{};
  const measure::Summary rates = row.rates();
  const std::optional<measure::Eviction> eviction = row.worst_eviction();
  CsvLine line;
  line.add(to_string(row.measure));
  line.add(printable(subject.file));
  line.add(subject.kind);
  line.add(loading ? std::string_view(subject.dataloader) : "");
  line.add(to_string(subject.storage.kind));
  line.add(loading ? report.gpu_of(row) : std::string());
  line.add(only_if(loading, std::uint64_t{report.options.run.batch_size}));
  line.add(only_if(measured, typical.run.seconds));
  line.add(only_if(measured && loading, typical.run.steps));
  line.add(only_if(measured, rates.median));
  line.add(report.speed_of(row));
  line.add(report.gpu_efficiency_of(row));
  line.add(unit_of(row.measure));
  line.add(std::uint64_t{row.runs.size()});
  line.add(only_if(measured, rates.lower));
  line.add(only_if(measured, rates.upper));
  line.add(only_if(measured, rates.spread()));
  line.add(measured ? (is_noisy(rates) ? "yes" : "no") : "");
  line.add(only_if(measured, row.byte_rates().median));
  line.add(only_if(measured, row.cpu_costs().median * 1e6));
  line.add(!report.options.cold ? "no" : eviction && eviction->complete() ? "yes" : "not possible");
  line.add(only_if(eviction.has_value(), eviction ? eviction->after.resident_bytes : 0));
  line.add(
      only_if(typical.resident_after.has_value(), typical.resident_after ? typical.resident_after->resident_bytes : 0));
  line.add(only_if(eviction.has_value(), eviction ? eviction->after.total_bytes : 0));
  line.add(printable(report.note_of(row)));
  return line.text();
}

}  // namespace

std::string bench_csv(const BenchReport& report) {
  std::string text(kCsvHeader);
  for (const Row& row : report.rows) text += csv_line(report, row);
  return text;
}

}  // namespace imgpack::tools
