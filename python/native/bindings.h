// The parts of the extension module, each of which adds its subject to the module.
//
// Here is only what turns C++ into Python; what a user of the package sees is put together in python/imgpack.
#pragma once

#include <nanobind/nanobind.h>

namespace imgpack::python {

void bind_errors(nanobind::module_& module);
void bind_description(nanobind::module_& module);
void bind_dataset(nanobind::module_& module);
void bind_reports(nanobind::module_& module);
void bind_packing(nanobind::module_& module);
void bind_verifying(nanobind::module_& module);
void bind_augmentation(nanobind::module_& module);
void bind_batch(nanobind::module_& module);
void bind_loader(nanobind::module_& module);

}  // namespace imgpack::python
