// imgpack::Error as the classes of imgpack.errors.
#include "imgpack/error.h"

#include <new>
#include <system_error>

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

void raise_or_restore(const Error& error) {
  try {
    raise(error);
  } catch (nb::python_error& other) {
    other.restore();
  }
}

}  // namespace

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const Error& error) {
      raise_or_restore(error);
    } catch (const std::bad_alloc&) {
      raise_or_restore(Error(ErrorCode::out_of_memory, "memory ran out"));
    } catch (const std::system_error& error) {
      raise_or_restore(Error(ErrorCode::io, error.what()));
    }
  });
}

}  // namespace imgpack::python
