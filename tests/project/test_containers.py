"""The image's recipe and the compose file, read and linted; nothing is built or started."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from misheard.language_models.settings import VllmSettings
from misheard.language_models.vllm_command import VllmBuild, server_command

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile.cuda").read_text("utf-8")
IGNORED = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PINNED_IMAGE = re.compile(r"[\w./-]+:v?\d+\.\d+\.\d+[\w.-]*(@sha256:[0-9a-f]{64})?")


def program(name: str) -> str:
    """Return the path of a program beside this Python or on the PATH; skip the test where there is none."""
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions with their arguments, continued lines joined."""
    lines = (line for line in DOCKERFILE.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    found = (line.partition(" ") for line in joined.splitlines() if line.strip())
    return [(name, argument.strip()) for name, _, argument in found]


def arguments_of(name: str) -> list[str]:
    return [argument for instruction, argument in instructions() if instruction == name]


def pins(name: str) -> dict[str, str]:
    lines = (ROOT / "requirements" / name).read_text("utf-8").splitlines()
    split = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(package): version for package, version in split}


def compose() -> dict[str, Any]:
    """Return the compose file as it is when no variable is set."""
    text = (ROOT / "compose.yaml").read_text("utf-8")
    document: dict[str, Any] = yaml.safe_load(re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text))
    return document


COMPOSE = compose()
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def in_group(name: str) -> list[str]:
    return [service for service in SERVICES if service.startswith(name)]


# --- the image


def test_the_dockerfile_is_lint_free() -> None:
    done = subprocess.run(
        [program("hadolint"), "--no-color", str(ROOT / "Dockerfile.cuda")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_the_base_is_pinned_and_replaceable() -> None:
    name, base = arguments_of("ARG")[0].split("=", 1)
    assert name == "BASE_IMAGE"
    assert PINNED_IMAGE.fullmatch(base)
    stages = {image.split()[-1] for image in arguments_of("FROM") if " AS " in image}
    for image in arguments_of("FROM"):
        assert image.split()[0] in {"${BASE_IMAGE}", *stages}


def test_the_image_runs_as_a_user_without_rights_and_asks_no_health_of_a_batch_job() -> None:
    user, group = arguments_of("USER")[-1].split(":")
    assert int(user) > 1000  # a number, so that orchestrators can check that it is not root
    assert int(group) == 0  # what any other user of the container is in too
    assert arguments_of("HEALTHCHECK") == ["NONE"]
    assert json.loads(arguments_of("ENTRYPOINT")[0]) == ["misheard"]


def test_whatever_is_written_goes_to_a_folder_of_the_group() -> None:
    made = next(command for command in arguments_of("RUN") if "useradd" in command)
    assert "chmod 0775 /cache /models /results" in made
    variables = dict(re.findall(r"(\w+)=(\S+)", arguments_of("ENV")[-1]))
    assert variables["MISHEARD_MODELS"] == "/models"
    for name in ("HOME", "XDG_CACHE_HOME", "MISHEARD_CACHE", "HF_HOME", "NUMBA_CACHE_DIR"):
        assert Path(variables[name]).is_relative_to("/cache")


def test_nothing_is_left_in_a_layer_that_is_not_needed_to_run() -> None:
    for command in arguments_of("RUN"):
        if "apt-get install" in command:
            assert "--no-install-recommends" in command
            assert "rm -rf /var/lib/apt/lists/*" in command
        for pip in re.findall(r"pip (?:install|wheel) [^&]*", command):
            assert "--no-cache-dir" in pip


def test_dependencies_are_a_layer_before_the_project() -> None:
    final = instructions()[[name for name, _ in instructions()].index("HEALTHCHECK") :: -1]
    order = [argument for name, argument in reversed(final) if name in {"COPY", "RUN"}]
    installed = next(i for i, argument in enumerate(order) if "--requirement" in argument)
    assert installed < next(i for i, argument in enumerate(order) if "from=project" in argument)


@pytest.mark.parametrize("source", [copy.split() for copy in arguments_of("COPY") if "--from" not in copy])
def test_what_is_copied_exists_and_is_not_ignored(source: list[str]) -> None:
    assert IGNORED[1] == "*"
    for name in source[:-1]:
        assert (ROOT / name).exists(), name
        assert any(line.startswith(f"!{name}") for line in IGNORED), name


def test_every_exception_of_the_ignore_file_exists() -> None:
    for line in IGNORED:
        if line.startswith("!"):
            assert (ROOT / line[1:]).exists(), line


def test_the_labels_are_the_projects() -> None:
    labels = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]*)"', arguments_of("LABEL")[0]))
    assert labels["title"] == PROJECT["name"]
    assert labels["version"] == PROJECT["version"]
    assert labels["licenses"] == PROJECT["license"]
    assert {"source", "revision", "description"} <= set(labels)


def test_the_image_installs_every_extra_at_the_versions_of_the_lock() -> None:
    image, lock = pins("image.txt"), pins("lock.txt")
    assert {name: version for name, version in image.items() if lock.get(name, version) != version} == {}
    extras = PROJECT["optional-dependencies"]
    for wanted in [*PROJECT["dependencies"], *extras["run"], *extras["ray"], *extras["cuda"]]:
        requirement = Requirement(wanted)
        assert requirement.specifier.contains(image[canonicalize_name(requirement.name)]), wanted
    assert image["nvidia-cublas-cu12"].startswith("12.")  # libcublas.so.12 for ctranslate2
    assert not {"pytest", "mypy", "ruff"} & set(image)


# --- the compose file


def test_docker_compose_takes_the_file() -> None:
    done = subprocess.run(
        [program("docker-compose"), "--profile", "*", "config", "--quiet"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", SERVICES)
def test_no_service_has_more_rights_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["restart"] == "no"
    for loose in ("privileged", "network_mode", "pid", "ipc", "cap_add", "devices"):
        assert loose not in service
    for port in service.get("ports", []):
        assert str(port).startswith("127.0.0.1:")
    for volume in service["volumes"]:
        assert "docker.sock" not in str(volume)


@pytest.mark.parametrize("name", SERVICES)
def test_images_are_pinned_and_volumes_and_networks_declared(name: str) -> None:
    service = SERVICES[name]
    assert PINNED_IMAGE.fullmatch(service["image"])
    for volume in service["volumes"]:
        if isinstance(volume, str):
            assert volume.split(":")[0] in COMPOSE["volumes"]
    assert set(service.get("networks", [])) <= set(COMPOSE["networks"])


def test_profiles_start_nothing_of_each_other() -> None:
    assert {name: service["profiles"] for name, service in SERVICES.items()} == {
        "vllm": ["gpu"],
        "misheard": ["gpu"],
        "vllm-cpu": ["cpu"],
        "misheard-cpu": ["cpu"],
        "models": ["models"],
    }


@pytest.mark.parametrize(("name", "server"), [("misheard", "vllm"), ("misheard-cpu", "vllm-cpu")])
def test_misheard_waits_for_a_healthy_server_and_reaches_nothing_else(name: str, server: str) -> None:
    service = SERVICES[name]
    assert service["depends_on"] == {server: {"condition": "service_healthy"}}
    assert "/health" in str(SERVICES[server]["healthcheck"]["test"])
    assert list(service["networks"]) == list(SERVICES[server]["networks"]) == ["inside"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert service["read_only"] is True
    assert "models:/models:ro" in service["volumes"]
    assert "models:/models:ro" in SERVICES[server]["volumes"]


def test_the_config_of_the_compose_file_asks_the_server_by_its_name() -> None:
    config = yaml.safe_load((ROOT / "configs" / "demo-attached.yaml").read_text("utf-8"))
    for name in in_group("misheard"):
        assert "configs/demo-attached.yaml" in SERVICES[name]["command"]
    for name in in_group("vllm"):
        assert "vllm" in SERVICES[name]["networks"]["inside"]["aliases"]
        assert f"--served-model-name={config['language_model']['model']}" in SERVICES[name]["command"]
        assert "--port=8000" in SERVICES[name]["command"]
    assert config["language_model"]["base_url"] == "http://vllm:8000/v1"


def test_only_the_gpu_profile_reserves_a_gpu() -> None:
    for service in SERVICES.values():
        resources = service.get("deploy", {}).get("resources", {})
        drivers = [device["driver"] for device in resources.get("reservations", {}).get("devices", [])]
        assert drivers == (["nvidia"] if service["profiles"] == ["gpu"] else [])


@pytest.mark.parametrize(("name", "cpu"), [("vllm", False), ("vllm-cpu", True)])
def test_the_server_is_started_like_the_one_that_a_run_owns(name: str, cpu: bool) -> None:
    service = SERVICES[name]
    owned = server_command(
        VllmSettings(model="/models/smollm2-135m-instruct", served_name="smollm2-135m-instruct"),
        VllmBuild(Path("python3"), cpu),
        socket=Path("socket"), cpu=cpu,
    )  # fmt: skip
    assert service["entrypoint"] == owned[:3]
    started = set(service["command"])
    options = re.findall(r"(--\S+)(?: ((?!--)\S+))?", " ".join(owned[3:]))
    for option, value in options:
        if option not in {"--uds", "--dtype"}:  # compose's network has no sockets; the CPU needs another type
            assert (f"{option}={value}" if value else option) in started
    for variable in ("HF_HUB_OFFLINE", "VLLM_NO_USAGE_STATS", "DO_NOT_TRACK"):
        assert service["environment"][variable] == "1"


def test_the_servers_are_of_a_version_that_the_project_supports() -> None:
    bound = Requirement(PROJECT["optional-dependencies"]["vllm"][0]).specifier
    for name in in_group("vllm"):
        assert bound.contains(SERVICES[name]["image"].rpartition(":v")[2])
