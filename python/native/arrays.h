// NumPy arrays that own what C++ has made.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace imgpack::python {

/// An array of the vector's elements, which it takes over without a copy.
template <class Value, class... Shape>
auto to_array(std::vector<Value> values, Shape... shape) {
  auto owned = std::make_unique<std::vector<Value>>(std::move(values));
  Value* const data = owned->data();
  nanobind::capsule owner(owned.get(), [](void* vector) noexcept { delete static_cast<std::vector<Value>*>(vector); });
  owned.release();
  return nanobind::ndarray<nanobind::numpy, Value, nanobind::ndim<sizeof...(Shape)>, nanobind::c_contig>(
      data, {static_cast<std::size_t>(shape)...}, owner);
}

}  // namespace imgpack::python
