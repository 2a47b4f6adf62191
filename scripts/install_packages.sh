#!/usr/bin/env bash
# Installs the Debian packages that lists name, if any is missing. Uses sudo only when it is not run by root.
#   scripts/install_packages.sh [LIST...]      default: packages.txt, which is what building takes
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
lists=("$@")
[ ${#lists[@]} -gt 0 ] || lists=("$here/packages.txt")

if ! command -v apt-get > /dev/null; then
  echo "install_packages.sh: this is no Debian; the packages needed are named in ${lists[*]}" >&2
  exit 0
fi

missing=()
for package in $(sed 's/#.*//' "${lists[@]}"); do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

echo "installing ${missing[*]}"
as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
"${as_root[@]}" apt-get update -q
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
