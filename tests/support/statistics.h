// Whether counts look drawn from a distribution, for tests with fixed seeds.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace imgpack::testing {

/// How many standard deviations a chi-square of `degrees` degrees of freedom lies from what it is on average (Wilson
/// and Hilferty's cube root). Fair counts stay within kFair: beyond it lies one in a million.
inline double chi_square_deviations(double chi_square, double degrees) {
  const double variance = 2 / (9 * degrees);
  return (std::cbrt(chi_square / degrees) - (1 - variance)) / std::sqrt(variance);
}
inline constexpr double kFair = 5;

/// Pearson's sum over cells; cells that nothing is expected in must be empty, else it is infinite.
inline double chi_square(std::span<const std::uint64_t> counts, std::span<const double> expected) {
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double difference = static_cast<double>(counts[i]) - expected[i];
    if (difference != 0) sum += difference * difference / expected[i];
  }
  return sum;
}

/// Deviations of counts of independent draws from equal probabilities.
inline double deviations_from_equal(std::span<const std::uint64_t> counts) {
  double total = 0;
  for (const std::uint64_t count : counts) total += static_cast<double>(count);
  const std::vector<double> expected(counts.size(), total / static_cast<double>(counts.size()));
  return chi_square_deviations(chi_square(counts, expected), static_cast<double>(counts.size() - 1));
}

/// The same for an n x n table of which each experiment fills one cell in each row and each column: which value a
/// permutation has at which position. Its sum is a chi-square of (n - 1)^2 degrees, n / (n - 1) times as large.
inline double deviations_of_permutations(std::span<const std::uint64_t> table, std::size_t n, std::uint64_t drawn) {
  const auto size = static_cast<double>(n);
  const std::vector<double> expected(table.size(), static_cast<double>(drawn) / size);
  return chi_square_deviations(chi_square(table, expected) * (size - 1) / size, (size - 1) * (size - 1));
}

}  // namespace imgpack::testing
