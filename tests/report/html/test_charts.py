"""Charts as SVG: the same bytes, the colours of the page, words for who cannot see, names that stay names."""

from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from misheard.report.html.charts.canvas import TOKENS
from misheard.report.html.charts.forest import Forest, ForestRow, forest
from misheard.report.html.charts.histogram import Histogram, Spread, histogram
from misheard.report.html.charts.intervals import Dot, IntervalRow, Intervals, intervals
from misheard.report.html.charts.latency import Latency, latency
from misheard.report.html.charts.session import MOMENTS, Lane, Session, SessionMoment, session_chart
from misheard.report.html.charts.timeline import Timeline, TimelinePanel, TimelineSpan, clock, timeline
from misheard.report.html.charts.trend import Trend, TrendPoint, trend
from misheard.report.html.charts.waterfall import Step, Waterfall, waterfall

LABEL = '<b>$x$\u202e & "മല"'


def _intervals() -> str:
    dots = (Dot("audio", 0.2, (0.1, 0.3), "audio"), Dot("control", 0.3, None, "control", "s"))
    rows = (IntervalRow(LABEL, dots), IntervalRow("none", ()))
    return intervals(Intervals("chart-a", "T <1>", "told", rows, str, reference=0.0, band=(-0.1, 0.1)))


def _waterfall() -> str:
    steps = (
        Step("best", "1", 0.0, 1.0, "whole"), Step(LABEL, "0.2", 1.0, 0.8, "loss", (0.7, 0.9)),
        Step("got", "0.8", 0.0, 0.8, "whole"),
    )  # fmt: skip
    return waterfall(Waterfall("chart-b", "T <1>", "told", steps, (0.0, 1.0), str))


def _histogram() -> str:
    spreads = (Spread(LABEL, (1, 2), "audio"), Spread("transcript", (2, 1), "transcript"))
    return histogram(
        Histogram("chart-c", "T <1>", "told", (0.0, 0.5, 1.0), spreads, (("p50", 0.4),), str, True)
    )


def _latency() -> str:
    return latency(
        Latency("chart-d", "T <1>", "told", (1.0, 2.0), (0.5, 1.0), (("p95", 2.0, 0.95),), 2.2, 1.5)
    )


def _timeline() -> str:
    panels = (TimelinePanel(LABEL, (0.0, 1.0, 2.0), (1.0, None, 2.0)),)
    return timeline(
        Timeline("chart-e", "T <1>", "told", panels, (TimelineSpan(LABEL, 0.0, 1.5),), ((1.0, "!"),))
    )


def _forest() -> str:
    rows = (
        ForestRow(LABEL, 0.1, (0.0, 0.2), "worse", "worse", LABEL, (None, 0.02)),
        ForestRow("none", None, None, "too_few_items", "too few"),
    )
    return forest(Forest("chart-f", "T <1>", "told", rows, str, 0.05, ("better", "worse")))


def _session() -> str:
    lanes = (
        Lane(LABEL, "3", (1.0, None, 2.0), str, is_count=True),
        Lane("plan", "1 s", (1.0, None, 2.0), str, worst=(2.0, None, 3.0), budget=2.5),
        Lane("empty", "0", (None, None, None), str),
    )
    moments = tuple(SessionMoment(3.0, kind, number) for number, kind in enumerate([*MOMENTS, "fault"], 1))
    return session_chart(Session("chart-g", "T <1>", "told", 30.0, lanes, moments))


def _trend() -> str:
    points = (TrendPoint(1, 0.2, (0.1, 0.3)), TrendPoint(2, None), TrendPoint(3, 0.4))
    return trend(Trend("chart-h", "T <1>", "told", points, {2: (LABEL,)}, str))


def parsed(drawn: str) -> ET.Element:
    return ET.fromstring(drawn)  # noqa: S314  (drawn here)


CHARTS = [_intervals, _waterfall, _histogram, _latency, _timeline, _forest, _session, _trend]


@pytest.mark.parametrize("draw", CHARTS)
def test_a_chart_is_the_same_each_time_and_says_what_it_shows(draw: Callable[[], str]) -> None:
    drawn = draw()
    assert draw() == drawn
    root = parsed(drawn)
    assert root.tag == "svg" and root.get("role") == "img"
    title, told = root[0], root[1]
    assert (title.tag, title.text, told.tag, told.text) == ("title", "T <1>", "desc", "told")
    assert root.get("aria-labelledby") == f"{title.get('id')} {told.get('id')}"


@pytest.mark.parametrize("draw", CHARTS)
def test_a_chart_has_the_colours_of_the_page_alone_and_no_style_of_its_own(draw: Callable[[], str]) -> None:
    root = parsed(draw())
    paints = {
        value
        for element in root.iter()
        for name, value in element.attrib.items()
        if name in ("fill", "stroke")
    }
    named = {f"var(--chart-{token})" for token in TOKENS}
    assert paints & named and paints <= named | {"none"}
    assert not [element for element in root.iter() if element.tag == "style" or "style" in element.attrib]


@pytest.mark.parametrize("draw", CHARTS)
def test_ids_of_a_chart_carry_its_name_and_what_is_used_is_there(draw: Callable[[], str]) -> None:
    root = parsed(draw())
    name = str(root[0].get("id")).removesuffix("-title")
    ids = {str(element.get("id")) for element in root.iter() if "id" in element.attrib}
    used = {str(element.get("href"))[1:] for element in root.iter("use")}
    clips = {str(e.get("clip-path"))[5:-1] for e in root.iter() if "clip-path" in e.attrib}
    assert all(one.startswith(f"{name}-") for one in ids) and used | clips <= ids


@pytest.mark.parametrize("draw", [_waterfall, _histogram, _timeline, _forest, _session, _trend])
def test_a_hostile_label_is_text(draw: Callable[[], str]) -> None:
    drawn = draw()
    assert "<b>" not in drawn and "$x$" in drawn and "മല" in drawn and "\u202e" not in drawn


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, "0 s"), (7.5, "7.5 s"), (119, "119 s"), (125, "2:05"), (3725, "1:02:05")]
)
def test_a_clock_is_short(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown
