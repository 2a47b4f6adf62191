#include "imgpack/build.h"
#include "python/native/bindings.h"
#include "python/native/text.h"

NB_MODULE(_imgpack, module) {
  using namespace imgpack::python;
  module.doc() = "The C++ library behind the imgpack package, which is what programs should use.";
  module.attr("version") = text(imgpack::version());
  bind_errors(module);
  bind_description(module);
  bind_dataset(module);
  bind_reports(module);
  bind_packing(module);
  bind_verifying(module);
}
