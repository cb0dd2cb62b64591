# Sourced by scripts/test on CI machines: Debian packages that some tests compare with.
# shellcheck shell=bash

# ci_packages: install chromium, espeak-ng and sctk where that is possible; a test that misses one says so when it
# skips.
ci_packages() {
    local missing=()
    command -v chromium >/dev/null || missing+=(chromium)
    command -v espeak-ng >/dev/null || missing+=(espeak-ng)
    command -v sclite >/dev/null || command -v sctk >/dev/null || missing+=(sctk)
    ((${#missing[@]})) || return 0
    if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
        say "   not installed, for lack of root or apt-get: ${missing[*]}"
        return 0
    fi
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qqy --no-install-recommends \
        "${missing[@]}"; } >/dev/null 2>&1 </dev/null || say "   apt-get could not install: ${missing[*]}"
}
