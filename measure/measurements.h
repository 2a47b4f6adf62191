// The measurements themselves; measurement.h tells what each is.
#pragma once

#include "measure/measurement.h"

namespace imgpack::measure {

MeasureRun measure_open(const MeasureContext& context);
MeasureRun measure_seq(const MeasureContext& context);
MeasureRun measure_random(const MeasureContext& context);
MeasureRun measure_decode(const MeasureContext& context);
/// REQUIRES: is_loading(measure).
MeasureRun measure_batches(Measure measure, const MeasureContext& context);

}  // namespace imgpack::measure
