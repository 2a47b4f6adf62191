// The options of a loader as an object whose attributes are set one by one.
#pragma once

#include <nanobind/nanobind.h>

namespace imgpack::python {

/// Adds LoaderOptions and DatasetShare to the module.
void bind_loader_options(nanobind::module_& module);

}  // namespace imgpack::python
