"""Traces of a made-up session, healthy unless a test breaks them."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from misheard.soak.limits import Limits
from misheard.soak.reading import read_trace
from misheard.soak.verdict import SoakVerdict, judge_trace

Row = dict[str, Any]
HEADER: Row = {"format": "misheard-trace/1"}

TURN_SECONDS = 5.0


def healthy(turns: int = 80) -> list[Row]:
    """A session in which every turn is heard, planned, drawn and answered; one adds a connection each."""
    rows: list[Row] = []
    for turn in range(turns):
        rows.extend(_turn(turn))
    end = turns * TURN_SECONDS
    rows.append({"event": "microphone_stopped", "t": end + 5.0, "audio_to": end})
    rows.append({"event": "drained", "t": end + 6.0})
    return in_order(rows)


def _turn(turn: int) -> list[Row]:
    begin = turn * TURN_SECONDS
    name, shape, arrow = f"t{turn}", f"op{2 * turn}", f"op{2 * turn + 1}"
    wobble = 0.01 * (turn * 7 % 11)
    at = {"turn": name}
    shown = {"operation": shape, "type": "add_shape", **at}
    connected = {"operation": arrow, "type": "connect", "connection": f"c{turn}", **at}
    return [
        {"event": "turn_opened", "t": begin + 0.2, **at, "audio_from": begin},
        {"event": "audio_received", "t": begin + 0.1, "audio_from": begin, "audio_to": begin + TURN_SECONDS},
        {"event": "transcript_partial", "t": begin + 1.0, **at, "words": 3, "words_rewritten": 0},
        {"event": "transcript_partial", "t": begin + 2.0, **at, "words": 6, "words_rewritten": 1},
        {"event": "turn_closed", "t": begin + 3.5, **at, "audio_from": begin, "audio_to": begin + 3.0,
         "speech_end": begin + 3.0},
        {"event": "transcript_final", "t": begin + 4.0, **at, "words": 8, "words_rewritten": 0,
         "seconds": 0.4 + wobble, "audio_from": begin, "audio_to": begin + 3.0},
        {"event": "corrected", "t": begin + 4.2, **at, "words": 8, "words_changed": 1,
         "seconds": 0.2 + wobble},
        {"event": "plan_accepted", "t": begin + 4.5, **at, "operations": 2, "seconds": 0.3 + wobble},
        {"event": "operation_accepted", "t": begin + 4.5, **shown},
        {"event": "operation_accepted", "t": begin + 4.5, **connected},
        {"event": "operation_applied", "t": begin + 4.6, **shown, "seconds": 0.01, "shapes": turn + 1},
        {"event": "operation_applied", "t": begin + 4.7, **connected, "seconds": 0.01, "shapes": turn + 1},
        {"event": "answer_finished", "t": begin + 4.75, **at, "words": 12, "seconds": 0.5 + wobble},
        {"event": "board_ready", "t": begin + 4.8, **at, "shapes": turn + 1},
        {"event": "sample", "t": begin + 4.9, "memory_bytes": 500 * 2**20 + 1024 * (turn * 7 % 11),
         "queue_recognize": turn % 3, "queue_plan": 1},
    ]  # fmt: skip


def in_order(rows: Iterable[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["t"])


def find(rows: list[Row], event: str, turn: int | None = None, nth: int = 0) -> Row:
    """The nth event of a name, of a turn if one is given; to be changed where it stands."""
    return [r for r in rows if r["event"] == event and turn in (None, int(r.get("turn", "t-1")[1:]))][nth]


def without(rows: list[Row], drop: Callable[[Row], bool]) -> list[Row]:
    return [row for row in rows if not drop(row)]


def write(path: Path, rows: Iterable[Row], header: Row | None = HEADER) -> Path:
    lines = [*([] if header is None else [header]), *rows]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def judged(folder: Path, rows: Iterable[Row], limits: Limits | None = None) -> SoakVerdict:
    path = write(folder / "trace.jsonl", rows)
    return judge_trace(read_trace(path), limits or Limits(), path.name, None)


def soak_folder(folder: Path, rows: Iterable[Row], **changes: Any) -> Path:
    """The folder of a soak as it is left behind; a change to ... takes a fact out."""
    facts = {
        "schema": "misheard/soak/1", "status": "complete", "minutes": 5, "speed": "max",
        "behind_seconds": 1.5, "restarts": 2, "limits": Limits().model_dump(mode="json"),
        "limits_name": None, "config": {"suite": "somewhere"},
    }  # fmt: skip
    folder.mkdir()
    facts = {name: value for name, value in {**facts, **changes}.items() if value is not ...}
    (folder / "soak.json").write_text(json.dumps(facts))
    write(folder / "trace.jsonl", rows)
    return folder
