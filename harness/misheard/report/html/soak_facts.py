"""What was played to what, by which limits it was judged, and how to do it again."""

import shlex
from collections.abc import Iterator
from typing import Any

from misheard.command_lines import path_argument
from misheard.report.html.page import Block, Code, Details, Facts, Section
from misheard.report.html.run_facts import config_to_copy, flat
from misheard.report.html.soak_documents import SoakDocuments
from misheard.report.values import Document

_SESSION = ("status", "minutes", "speed", "cpu", "behind_seconds", "restarts", "faults", "missed_faults")
_LIMITS = "limits.yaml"


def session_sections(documents: SoakDocuments) -> Iterator[Section]:
    """Yield what was played, and the configuration; of a trace of another product its counts and limits."""
    state = documents.state
    counts = tuple((name.replace("_", " "), str(count)) for name, count in documents.judged.counts.items())
    session: list[Block] = []
    if state is not None:
        session.append(Facts(tuple(flat({name: state.get(name) for name in _SESSION})), "Session"))
        session.append(Facts(tuple(flat(_played(state))), "What was played"))
    session.append(Facts(counts, "Events of the trace"))
    yield Section("session", "Session", tuple(session))
    limits = Facts(tuple(flat(documents.limits.model_dump(mode="json"))), is_code=True)
    if state is None:
        yield Section("configuration", "Limits", (limits,))
        return
    yield Section(
        "configuration",
        "Configuration, limits and versions",
        (
            Details("Configuration, as it was resolved", (_part(state, "config"),)),
            Details("System, with content hashes", (_part(state, "system"),)),
            Details("Limits", (limits,)),
            Facts((("misheard", str(state.get("misheard"))), *flat(state.get("versions") or {})), "Versions",
                  is_code=True),
            Facts(tuple(flat(_machine(state))), "Machine", is_code=True),
        ),
    )  # fmt: skip


def _played(state: Document) -> Document:
    """Return the suite, the session and what came of it, without the hash of each recording."""
    session = dict(state.get("session") or {})
    recordings = session.pop("recordings", None) or {}
    return {
        "suite": state.get("suite"),
        "session": {**session, "recordings": len(recordings)},
        "replayed": _rounded({k: v for k, v in (state.get("replayed") or {}).items() if k != "events"}),
    }


def _rounded(value: Any) -> Any:
    """Return measured seconds as a reader needs them."""
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    return round(value, 3) if isinstance(value, float) else value


def _part(state: Document, name: str) -> Facts:
    return Facts(tuple(flat(state.get(name) or {})), is_code=True)


def _machine(state: Document) -> Document:
    return {name: value for name, value in (state.get("machine") or {}).items() if name != "gpus"}


def reproduce_section(documents: SoakDocuments) -> Section:
    """Return the commands that judge the trace again, and that play the session again."""
    import yaml

    name, state = path_argument(documents.name), documents.state
    default = documents.judged.verdict.gate == "default limits"
    judged_by = "" if default else f" --limits {_LIMITS}"
    if state is None:
        command = f"misheard soak check {name}{judged_by} --html soak.html"
        blocks: list[Block] = [Code(command, "Beside the trace")]
    else:
        commands = [
            f"misheard soak check {name}{judged_by}    # judge the trace again",
            f"misheard report {name} --html            # this page",
            "",
            "# with the configuration below in again.yaml; what differs then is the noise of two sessions",
            " ".join(_play(state, judged_by)),
        ]
        blocks = [Code("\n".join(commands), "Beside the folder of the session")]
        blocks.append(config_to_copy(state["config"], "soak.json"))
    if not default:
        limits = documents.limits.model_dump(mode="json")
        blocks.append(Details(_LIMITS, (Code(yaml.safe_dump(limits, sort_keys=False)),)))
    return Section("reproduce", "How to reproduce", tuple(blocks))


def _play(state: Document, judged_by: str) -> Iterator[str]:
    yield "misheard soak again.yaml"
    suite = state.get("suite") or {}
    if suite.get("path"):
        yield f"--suite {path_argument(str(suite['path']))}"
    yield f"--minutes {state['minutes']:g}"
    yield f"--speed {state['speed']}"
    if state.get("cpu"):
        yield "--cpu"
    for fault in state.get("faults") or ():
        yield f"--fault {shlex.quote(str(fault))}"
    yield f"--out again{judged_by}"
