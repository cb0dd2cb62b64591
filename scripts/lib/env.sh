# Sourced by the bash scripts: a Python, the environments, and the project as it is in this checkout.
# shellcheck shell=bash

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
STEP_STARTED=$SECONDS

# The project is not installed into the shared environments; each checkout brings its own source roots.
export PYTHONPATH="$ROOT/harness:$ROOT/kernels${PYTHONPATH:+:$PYTHONPATH}"

say() { printf '%s\n' "$*" >&2; }
die() { say "error: $*"; exit 2; }

# step TEXT: announce what comes next.
step() { STEP_STARTED=$SECONDS; say "== $*"; }
# done_step TEXT: say what is finished, with its time.
done_step() { say "   $* ($((SECONDS - STEP_STARTED)) s)"; }

# host_python: print a Python of 3.11 or later: $PYTHON where it is set, else what PATH has.
host_python() {
    local candidate candidates=(python3 python3.14 python3.13 python3.12 python3.11)
    if [[ -n ${PYTHON:-} ]]; then candidates=("$PYTHON"); fi
    for candidate in "${candidates[@]}"; do
        if command -v "$candidate" >/dev/null &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$candidate"
            return
        fi
    done
    die "no Python 3.11 or later: ${candidates[0]} is $("${candidates[0]}" --version 2>/dev/null || echo missing)." \
        "Install one, or set PYTHON to its path."
}

# ensure_env demo|dev|vllm: print the interpreter of an environment, which is built first where it is missing.
# demo is what runs a pipeline, dev what checks the project, too; where dev is there, it is used for both.
# vllm is vLLM for the CPU, or for CUDA on a machine with an NVIDIA GPU.
ensure_env() {
    local python
    python="$(host_python)" || return
    env -u PYTHONPATH "$python" "$ROOT/scripts/lib/envs.py" ensure "$1"
}

# cache_dir: print the folder of environments, models and suites.
cache_dir() {
    local python
    python="$(host_python)" || return
    "$python" "$ROOT/scripts/lib/envs.py" cache
}

# has_gpu: whether there is an NVIDIA GPU with its driver.
has_gpu() { [[ -e /dev/nvidia0 ]] || command -v nvidia-smi >/dev/null; }
