// imgpack::Error as the classes of imgpack.errors.
#include "imgpack/error.h"

#include <nanobind/stl/optional.h>

#include "python/native/bindings.h"
#include "python/native/text.h"

namespace imgpack::python {

namespace nb = nanobind;

namespace {

void raise(const Error& error) {
  const ErrorPlace& place = error.place();
  const nb::object file = place.file.empty() ? nb::none() : nb::object(text(place.file));
  const nb::object exception = nb::module_::import_("imgpack.errors")
                                   .attr("_make")(text(to_string(error.code())), text(error.what()),
                                                  text(error.message()), file, place.record, place.offset);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      try {
        raise(error);
      } catch (nb::python_error& other) {
        other.restore();
      }
    }
  });
}

}  // namespace imgpack::python
