// Text between Python and the library. Names in files are bytes, mostly but not always UTF-8; they appear in Python as
// file names do there, with surrogate escapes for what is no UTF-8.
#pragma once

#include <string>
#include <string_view>

#include <nanobind/nanobind.h>

namespace imgpack::python {

inline nanobind::str text(std::string_view bytes) {
  PyObject* object = PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape");
  if (object == nullptr) throw nanobind::python_error();
  return nanobind::steal<nanobind::str>(object);
}

inline std::string bytes_of(nanobind::str text) {
  PyObject* object = PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape");
  if (object == nullptr) throw nanobind::python_error();
  const auto bytes = nanobind::steal<nanobind::bytes>(object);
  return {bytes.c_str(), bytes.size()};
}

}  // namespace imgpack::python
