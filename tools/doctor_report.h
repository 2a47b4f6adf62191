// What doctor has found out, as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "measure/advice.h"
#include "measure/examination.h"
#include "tools/console.h"

namespace imgpack::tools {

struct DoctorReport {
  measure::Examination examination;
  std::optional<measure::TargetAnswer> target;
  std::string cpu;  ///< model
  unsigned cpus = 0;
  double load = -1;  ///< before; negative: unknown
  unsigned rounds = 0;
  std::uint32_t batch_size = 0;
  std::string device;
  double step_seconds = 0;
};

std::string doctor_text(const DoctorReport& report);
Json doctor_json(const DoctorReport& report);

}  // namespace imgpack::tools
