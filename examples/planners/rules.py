#!/usr/bin/env python3
"""A planner without a model: word patterns in English, Hindi, Tamil, Malayalam and Arabic, for `misheard`.

It is one file in the three forms that a user's own planner can have:

    plan: {kind: python, target: "rules:RulePlanner"}                # a class; a copy lies beside the config
    plan: {kind: command, command: [python3, ./rules.py]}            # JSON on standard input and output
    plan: {kind: http, url: "http://127.0.0.1:8321/"}                # after: python3 rules.py --serve 8321

A request is `{"utterances": ["…", …], "language": "en"}`, the reply `{"shapes": […], "connections": […]}`:
what the board shows after all utterances. A connection to a shape that was never named gets an end that no
shape has, and no board draws it. Standard library only.
"""

import argparse
import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

MAX_BYTES = 1 << 20
LONGEST_LABEL = 200


@dataclass(frozen=True)
class Grammar:
    """How one language names shapes and connections.

    Attributes:
        kinds: the beginning of the word for each kind; endings differ by case and number.
        breaks: where one sentence ends, besides its punctuation.
        shape: a pattern with the groups `kind` and `label`; KINDS stands for the words of `kinds`.
        links: patterns with the groups `source` and `target`, and `label` where the language has one.
    """

    kinds: dict[str, str]
    breaks: str
    shape: str
    links: tuple[str, ...]


_AND = r"[\s,،]*"

GRAMMARS = {
    "en": Grammar(
        kinds={"box": "box", "square": "box", "circle": "circle", "diamond": "diamond", "note": "note"},
        breaks=r"(?=\b(?:draw|add|put|connect)\b)",
        shape=r"\b(?:an?|another)\s+(?P<kind>KINDS)\s+(?:called?|named?)\s+"
        r"(?P<label>\S.*?)(?=\s*,|\s+and\s+(?:an?|another)\b|\s*$)",
        links=(
            r"(?:^connect|\barrow|,|\band)\s+(?:and\s+)?(?:from\s+)?(?P<source>\S+(?:\s+(?!to\b|and\b)\S+)*?)"
            r"\s+to\s+(?P<target>\S.*?)(?:\s+with\s+the\s+label\s+(?P<label>\S.*?))?(?=\s*,|\s+and\s|\s*$)",
        ),
    ),
    "hi": Grammar(
        kinds={"डिब्बा": "box", "गोला": "circle", "नोट": "note"},
        breaks=r"(?<=बनाओ)|(?<=जोड़ो)",
        shape=_AND + r"(?:और\s+)?(?P<label>\S.*?)\s+नाम\s+का\s+(?:एक\s+)?(?P<kind>KINDS)",
        links=(
            _AND + r"(?:और\s+)?(?P<source>\S.*?)\s+को\s+(?P<target>\S.*?)\s+से(?=\s|$)",
            _AND + r"(?:और\s+)?(?P<source>\S.*?)\s+से\s+(?P<target>\S.*?)\s+तक(?=\s|$)",
        ),
    ),
    "ta": Grammar(
        kinds={"பெட்டி": "box", "வட்ட": "circle", "குறிப்ப": "note"},
        breaks=r"(?<=வரையவும்)|(?<=இணைக்கவும்)",
        shape=_AND + r"(?P<label>\S.*?)\s+என்ற\s+(?P<kind>KINDS)\S*",
        links=(
            _AND + r"(?P<source>\S.*?)\s+என்பதை\S*\s+(?P<target>\S.*?)\s+என்பதுடன\S*",
            _AND + r"(?P<source>\S.*?)\s+என்பதிலிருந்து\s+(?P<target>\S.*?)\s+என்பதற்க\S*",
        ),
    ),
    "ml": Grammar(
        kinds={"പെട്ടി": "box", "വൃത്ത": "circle", "കുറിപ്പ": "note"},
        breaks=r"(?<=വരയ്ക്കുക)|(?<=ബന്ധിപ്പിക്കുക)",
        shape=_AND + r"(?P<label>\S.*?)\s+എന്ന\s+(?P<kind>KINDS)\S*",
        links=(
            _AND + r"(?P<source>\S.*?)\s+എന്നതിനെ\s+(?P<target>\S.*?)\s+എന്നതുമായ\S*",
            _AND + r"(?P<source>\S.*?)\s+എന്നതിൽ\s*നിന്ന്\s+(?P<target>\S.*?)\s+എന്നതിലേക്ക\S*",
        ),
    ),
    "ar": Grammar(
        kinds={"مربع": "box", "دائرة": "circle", "ملاحظة": "note"},
        breaks=r"(?=\b(?:ارسم|اربط)\b)",
        shape=r"(?P<kind>KINDS)\S*\s+اسمها?\s+(?P<label>\S.*?)(?=\s*،|\s+و(?:KINDS)|\s*$)",
        links=(
            r"(?:^اربط\s+|\sو)(?P<source>\S.*?)\s+مع\s+(?P<target>\S.*?)(?=\s+و\S.*?\sمع\s|\s*$)",
            r"(?:^|\s)و?من\s+(?P<source>\S.*?)\s+(?:إلى|الى)\s+(?P<target>\S.*?)(?=\s+ومن\s|\s*$)",
        ),
    ),
}

_SENTENCE_END = r"[.!?؟।]+"
_TANWIN_AND_VOWELS = re.compile("[\u064b-\u0652]")


class RulePlanner:
    """Plans by the patterns of the request's language, or of the first language that names a shape."""

    def plan(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the scene that the utterances describe."""
        utterances = [str(utterance) for utterance in request["utterances"]]
        language = str(request.get("language") or "").split("-")[0].lower()
        grammars = [GRAMMARS[language]] if language in GRAMMARS else list(GRAMMARS.values())
        plans = [_plan(utterances, grammar) for grammar in grammars]
        return next((plan for plan in plans if plan["shapes"]), plans[0])

    def fingerprint(self) -> dict[str, Any]:
        """Return what else decides the plans: the Unicode tables."""
        return {"unicode": unicodedata.unidata_version}


def _plan(utterances: list[str], grammar: Grammar) -> dict[str, Any]:
    sentences = [s for utterance in utterances for s in _sentences(utterance, grammar)]
    words = "|".join(map(re.escape, grammar.kinds))
    shapes: list[dict[str, str]] = []
    ids: dict[str, str] = {}
    for sentence in sentences:
        for found in _all(grammar.shape.replace("KINDS", words), sentence):
            kind, label = grammar.kinds[found["kind"].lower()], _label(found["label"])
            if label.casefold() not in ids:
                ids[label.casefold()] = f"s{len(shapes) + 1}"
                shapes.append({"id": ids[label.casefold()], "kind": kind, "label": label})
    connections: list[dict[str, str]] = []
    for sentence in sentences:
        if re.search(grammar.shape.replace("KINDS", words), sentence, re.IGNORECASE):
            continue
        for link in grammar.links:
            for found in _all(link, sentence):
                connection = {
                    "from": _end(found["source"], ids),
                    "to": _end(found["target"], ids),
                    "label": _label(found.get("label") or ""),
                }
                if connection not in connections:
                    connections.append(connection)
    return {"shapes": shapes, "connections": connections}


def _sentences(utterance: str, grammar: Grammar) -> Iterator[str]:
    text = _TANWIN_AND_VOWELS.sub("", unicodedata.normalize("NFC", utterance))
    parts = re.split(
        f"{_SENTENCE_END}|{unicodedata.normalize('NFC', grammar.breaks)}", text, flags=re.IGNORECASE
    )
    return (part.strip() for part in parts if part and part.strip())


def _all(pattern: str, sentence: str) -> Iterator[dict[str, str]]:
    nfc = unicodedata.normalize("NFC", pattern)
    return (match.groupdict() for match in re.finditer(nfc, sentence, re.IGNORECASE))


def _end(heard: str, ids: dict[str, str]) -> str:
    """Return the id of the shape that is called so; where none is, an id that no shape has."""
    label = _label(heard).casefold().removeprefix("the ")
    return ids.get(label, "unknown")


def _label(heard: str) -> str:
    return " ".join(heard.split()).strip(" ,;:،")[:LONGEST_LABEL]


def run_once() -> None:
    """Answer the one request on standard input."""
    reply = RulePlanner().plan(json.load(sys.stdin))
    sys.stdout.write(json.dumps(reply) + "\n")


class Handler(BaseHTTPRequestHandler):
    """Answers POST requests; what is no request gets 400 and no words of it."""

    disable_nagle_algorithm = True  # a reply of two writes would wait 40 ms for its second one

    def do_POST(self) -> None:
        try:
            length = int(self.headers.get("Content-Length") or 0)
            if not 0 < length <= MAX_BYTES:
                raise ValueError("too long or empty")
            reply = RulePlanner().plan(json.loads(self.rfile.read(length)))
        except (ValueError, KeyError, TypeError, AttributeError):
            self.send_error(400)
            return
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        """Log nothing: requests hold what people said."""


def serve(port: int) -> None:
    """Answer requests on the loopback interface until interrupted; port 0 takes a free one and prints it."""
    with HTTPServer(("127.0.0.1", port), Handler) as server:
        sys.stdout.write(f"http://127.0.0.1:{server.server_port}/\n")
        sys.stdout.flush()
        server.serve_forever()


def main() -> None:
    """Serve, or answer one request."""
    parser = argparse.ArgumentParser(description="A rule-based planner for misheard.")
    parser.add_argument("--serve", type=int, metavar="PORT", help="answer HTTP requests on 127.0.0.1")
    options = parser.parse_args()
    if options.serve is None:
        run_once()
    else:
        serve(options.serve)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
