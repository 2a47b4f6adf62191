#include "imgpack/build.h"
#include "python/native/bindings.h"
#include "python/native/released.h"
#include "python/native/text.h"

NB_MODULE(_imgpack, module) {
  using namespace imgpack::python;
  module.doc() = "The C++ library behind the imgpack package, which is what programs should use.";
  module.attr("version") = text(imgpack::version());
  nanobind::set_leak_warnings(false);  // a program may end with anything still in use
  watch_for_the_end();
  bind_errors(module);
  bind_description(module);
  bind_dataset(module);
  bind_reports(module);
  bind_packing(module);
  bind_verifying(module);
  bind_augmentation(module);
  bind_batch(module);
  bind_loader(module);
}
