"""The verdict as JUnit XML: one test suite, one test case per check.

A check that failed or is inconclusive is a `failure` of that type, one without evidence an `error`, one that
was waived or decides nothing is `skipped`. Runs that cannot be compared are a test case with an `error`.
Nothing that keeps a gate from shipping is green.
"""

from xml.etree import ElementTree

from misheard.gate.sentences import summary
from misheard.gate.verdict import Check, GateVerdict, Outcome
from misheard.report.labels import plain
from misheard.stats.gate import Status


def junit_xml(verdict: GateVerdict) -> str:
    """Return the document as text, UTF-8 declared. Characters that XML cannot hold are shown as escapes."""
    cases = [_case(check) for check in verdict.checks]
    if verdict.outcome is not Outcome.SHIP and not any(map(_is_red, cases)):
        case = ElementTree.Element("testcase", name="comparable", classname="verdict", time="0")
        _add(case, "error", str(verdict.outcome), summary(verdict), "\n".join(verdict.refusals))
        cases.append(case)
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    totals = {name: str(count) for name, count in counts.items()} | {"time": "0"}
    root = ElementTree.Element("testsuites", {"name": "misheard gate", **totals})
    suite = ElementTree.SubElement(root, "testsuite", {"name": _text(verdict.gate), **totals})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(verdict).items():
        ElementTree.SubElement(properties, "property", name=name, value=_text(value))
    suite.extend(cases)
    ElementTree.SubElement(suite, "system-out").text = _text("\n".join([summary(verdict), *verdict.notes]))
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _is_red(case: ElementTree.Element) -> bool:
    return case.find("failure") is not None or case.find("error") is not None


def _properties(verdict: GateVerdict) -> dict[str, str]:
    return {
        "outcome": str(verdict.outcome),
        "exit_code": str(verdict.exit_code),
        "gate_sha256": verdict.gate_sha256,
        "suite": verdict.suite or "",
        "candidate": verdict.candidate,
        "baseline": verdict.baseline or "",
        "soak": verdict.soak or "",
    }


def _case(check: Check) -> ElementTree.Element:
    case = ElementTree.Element("testcase", name=_text(check.id), classname=check.role, time="0")
    if check.status is Status.WAIVED or not check.decides:
        if check.status is not Status.PASS:
            ElementTree.SubElement(case, "skipped", message=_text(check.why))
    elif check.status is Status.NO_EVIDENCE:
        _add(case, "error", str(check.status), check.why, check.why)
    elif check.status is not Status.PASS:
        _add(case, "failure", str(check.status), check.why, check.why)
    return case


def _add(case: ElementTree.Element, tag: str, kind: str, message: str, text: str) -> None:
    ElementTree.SubElement(case, tag, type=kind, message=_text(message)).text = _text(text)


def _text(text: str) -> str:
    """Return a text without what XML cannot hold; line ends stay."""
    return "\n".join(map(plain, text.split("\n")))
