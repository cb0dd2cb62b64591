"""One verdict, many documents: none of them says anything else than the exit code."""

import io
import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import misheard.gate
from misheard.gate.document import verdict_document
from misheard.gate.github import annotations, step_summary
from misheard.gate.junit import junit_xml
from misheard.gate.sentences import HEADLINES, REASONS, rate_sentence, summary
from misheard.gate.terminal import render_verdict
from misheard.gate.verdict import Check, GateVerdict, Outcome, decide_outcome
from misheard.stats.gate import Rule, Status
from misheard.stats.resampling import Interval

SCHEMA = json.loads((Path(misheard.gate.__file__).parent / "verdict.schema.json").read_bytes())


def verdict(
    statuses: Sequence[Status], refusals: Sequence[str] = (), *, undecided: Sequence[Status] = ()
) -> GateVerdict:
    reasons = {Status.PASS: "acceptable", Status.FAIL: "unacceptable", Status.INCONCLUSIVE: "spans",
               Status.NO_EVIDENCE: "no_items", Status.WAIVED: "waived"}  # fmt: skip
    checks = tuple(
        Check(f"guards[{n}]/wer/audio", "guard", status, reasons[status], f"check {n}", decides=decides)
        for n, (status, decides) in enumerate(
            [*((status, True) for status in statuses), *((status, False) for status in undecided)]
        )
    )
    return GateVerdict(
        outcome=decide_outcome(checks, refusals), gate="gate.yaml", gate_sha256="0" * 64, candidate="b",
        baseline="a", suite="demo 1", refusals=tuple(refusals), checks=() if refusals else checks,
        notes=("a note",),
    )  # fmt: skip


def on_terminal(verdict: GateVerdict, width: int = 100) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(render_verdict(verdict))
    return out.getvalue()


VERDICTS = [
    *(verdict(statuses) for n in range(4) for statuses in itertools.combinations(Status, n)),
    *(verdict([Status.PASS], undecided=[status]) for status in Status),
    verdict([], ["items differ: q01, q02"]),
    verdict([Status.FAIL], ["another suite", "another judge"]),
]


@pytest.mark.parametrize("one", VERDICTS, ids=lambda v: "-".join(c.status for c in v.checks) or v.outcome)
def test_every_document_says_what_the_exit_code_says(one: GateVerdict) -> None:
    ships = one.exit_code == 0
    deciding = [check for check in one.checks if check.decides]
    assert ships == (one.outcome is Outcome.SHIP)
    assert ships == (
        not one.refusals
        and any(check.status is Status.PASS for check in deciding)
        and all(check.status in (Status.PASS, Status.WAIVED) for check in deciding)
    )

    document = verdict_document(one)
    jsonschema.validate(document, SCHEMA)
    assert (document["exit_code"], document["outcome"]) == (one.exit_code, one.outcome)

    last = on_terminal(one).rstrip("\n").splitlines()[-1]
    assert last == summary(one) == document["summary"]
    assert last.startswith(HEADLINES[one.outcome] + ":")
    assert not any(last.startswith(f"{word}:") for o, word in HEADLINES.items() if o is not one.outcome)

    lines = annotations(one)
    assert (lines[-1] == f"::notice title=misheard gate::{summary(one)}") == ships
    assert any(line.startswith("::error ") for line in lines) == (not ships)
    assert step_summary(one).startswith("## " + HEADLINES[one.outcome].split()[0])

    suite = junit(one)
    red = int(suite.get("failures", "")) + int(suite.get("errors", ""))
    assert (red == 0) == ships
    assert suite.find("properties/property[@name='exit_code']").get("value") == str(one.exit_code)  # type: ignore[union-attr]


def junit(one: GateVerdict) -> ElementTree.Element:
    """Parse JUnit XML and hold it to the rules of the schema that CI servers share."""
    root = ElementTree.fromstring(junit_xml(one))  # noqa: S314
    assert root.tag == "testsuites"
    (suite,) = root
    assert [child.tag for child in suite] == [
        "properties", *["testcase"] * len(suite.findall("testcase")), "system-out",
    ]  # fmt: skip
    allowed = {
        "testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
        "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
        "properties": set(), "property": {"name", "value"}, "testcase": {"name", "classname", "time"},
        "failure": {"type", "message"}, "error": {"type", "message"}, "skipped": {"message"},
        "system-out": set(),
    }  # fmt: skip
    for element in root.iter():
        assert set(element.attrib) <= allowed[element.tag]
        if element.tag in ("testsuite", "testcase"):
            assert element.get("name")
        if element.tag == "testcase":
            assert len(element) <= 1
            assert {child.tag for child in element} <= {"failure", "error", "skipped"}
    for part in (root, suite):
        assert int(part.get("tests", "")) == len(suite.findall("testcase"))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(part.get(attribute, "")) == len(suite.findall(f"testcase/{tag}"))
    return suite


def test_each_status_has_its_place_in_junit() -> None:
    suite = junit(verdict(list(Status), undecided=[Status.INCONCLUSIVE, Status.PASS]))
    found = [[(child.tag, child.get("type")) for child in case] for case in suite.findall("testcase")]
    assert found == [
        [], [("failure", "fail")], [("failure", "inconclusive")], [("error", "no_evidence")],
        [("skipped", None)], [("skipped", None)], [],
    ]  # fmt: skip


HOSTILE = [
    "]]>&<>\"'", "a\x00b\x1b[31m\u202e", "::error::x\n::set-output name=a::b", "%0A%", "| a | `b` <script>",
    "\ud800", "\ufffe", "ünïcödé 语音", "[x](javascript:y)", "@everyone", "##[error]", "\r\n",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_names_from_outside_stay_text_everywhere(text: str) -> None:
    one = verdict([Status.FAIL])
    one = replace(
        one, suite=text, candidate=text, baseline=text, gate=text, soak=text, notes=(text,),
        checks=(replace(one.checks[0], id=f"guards/{text}", why=text),),
    )  # fmt: skip
    for each in (one, replace(one, checks=(), refusals=(text,), outcome=Outcome.NOT_COMPARABLE)):
        junit(each)
        jsonschema.validate(verdict_document(each), SCHEMA)
        json.dumps(verdict_document(each), allow_nan=False).encode("ascii")
        lines = annotations(each)
        assert all(re.match(r"::(error|warning|notice) title=[^:\n\r,]*::[^\n\r]*\Z", line) for line in lines)
        assert len(lines) == 2
        markdown = step_summary(each)
        assert "<script>" not in markdown
        assert not re.search(r"(?<!\\)[`@]", markdown)
        assert len(markdown.splitlines()) <= 12
        markdown.encode("utf-8")


@given(text=st.text(max_size=40))
def test_any_text_gives_well_formed_documents(text: str) -> None:
    one = verdict([Status.NO_EVIDENCE])
    one = replace(one, gate=text, checks=(replace(one.checks[0], why=text),))
    junit(replace(one, gate=text or "gate"))
    assert all("\n" not in line and "\r" not in line for line in annotations(one))
    rows = [line for line in step_summary(one).splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    assert all(len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 4 for row in rows)


def test_a_long_verdict_fits_into_a_step_summary() -> None:
    one = verdict([Status.FAIL])
    checks = tuple(replace(one.checks[0], id=f"guards[{n}]", why="ü" * 200) for n in range(4000))
    many = replace(one, checks=checks)
    text = step_summary(many)
    assert len(text.encode()) < 1024 * 1024
    assert "more lines: see the JSON document" in text


@pytest.mark.parametrize("width", [30, 60, 200])
def test_the_terminal_has_every_check_and_no_line_ends_in_white_space(width: int) -> None:
    text = on_terminal(verdict([Status.PASS, Status.FAIL]), width)
    assert "FAIL" in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_every_reason_has_words() -> None:
    source = "".join(
        path.read_text()
        for path in (
            *Path(misheard.gate.__file__).parent.glob("*.py"),
            Path(misheard.gate.__file__).parents[1] / "stats" / "gate.py",
        )
    )
    used = set(re.findall(r"Finding\(\s*Status\.\w+(?: if [^,]+)?, \"(\w+)\"", source))
    assert len(used) > 15
    assert used <= REASONS.keys()


def rate_check(**changes: Any) -> Check:
    check = Check(
        "guards[0]/wer/audio", "guard", Status.PASS, "acceptable", "", rule=str(Rule.MAY_RISE), limit=0.02,
        metric="wer", arm="audio", slice=(("noise", "5dB"),), baseline=0.2, candidate=0.19, difference=-0.01,
        interval=Interval(-0.03, 0.01), n=60, units=1, failed_baseline=0, failed_candidate=2,
    )  # fmt: skip
    return replace(check, **changes)


@pytest.mark.parametrize(
    ("check", "sentence"),
    [
        (
            rate_check(),
            "word error rate, audio arm, noise=5dB: from 20.0% to 19.0%, change −1.0 points, 95% interval "
            "−3.0…+1.0, 60 pairs, 1 unit, 2 failed in the candidate; may rise by at most 2 points: "
            "acceptable",
        ),
        (
            rate_check(
                metric="response_quality", rule=str(Rule.MUST_IMPROVE), limit=None, slice=(), p_value=0.03,
                reason="holm", failed_candidate=0,
            ),
            "answer quality, audio arm: from 0.200 to 0.190, change −0.010, 95% interval −0.030…+0.010, "
            "adjusted p 0.0300, 60 pairs, 1 unit; must improve: not below 0.05 once adjusted for several "
            "claims",
        ),
        (
            rate_check(
                rule=str(Rule.AT_MOST), limit=0.07, baseline=None, difference=None, failed_candidate=0
            ),
            "word error rate, audio arm, noise=5dB: 19.0%, 95% interval 0.0…1.0, 60 items, 1 unit; "
            "at most 7%: acceptable",
        ),
        (
            rate_check(
                metric="flip_rate", rule=str(Rule.AT_MOST), limit=0.07, slice=(), candidate=0.0,
                interval=Interval(0.0, 0.06), by_unit=True, units=60, failed_candidate=0,
            ),
            "answers changed, audio arm: 0.0%, exact 95% interval with each unit as one trial 0.0…6.0, "
            "60 items, 60 units; at most 7%: acceptable",
        ),
        (
            rate_check(
                metric="response_quality", slice=(), interval=Interval(-1.25, 1.5), failed_candidate=0,
                rule=str(Rule.MAY_FALL),
            ),
            "answer quality, audio arm: from 0.200 to 0.190, change −0.010, 95% interval −1.000…+1.000, "
            "60 pairs, 1 unit; may fall by at most 0.02: acceptable",
        ),
        (
            rate_check(
                candidate=None, baseline=None, difference=None, interval=None, n=0, units=0,
                reason="no_pairs", failed_baseline=None, failed_candidate=0, slice=(("noise", None),),
            ),
            "word error rate, audio arm, noise=(none): from none to none, 0 pairs, 0 units; may rise by "
            "at most 2 points: no item counts on both sides",
        ),
    ],
)  # fmt: skip
def test_a_sentence_has_the_figures_the_tolerance_and_the_reason(check: Check, sentence: str) -> None:
    assert rate_sentence(check) == sentence


def test_counts_in_the_summary() -> None:
    P, F, U = Status.PASS, Status.FAIL, Status.INCONCLUSIVE  # noqa: N806
    assert summary(verdict([P, F, U, U, Status.WAIVED])) == "NO SHIP: of 4 checks 1 failed, 2 inconclusive"
    assert summary(verdict([P], undecided=[U])) == "SHIP: 1 check passed"
    assert summary(verdict([], ["x"])) == "NOT COMPARABLE: nothing was checked"
