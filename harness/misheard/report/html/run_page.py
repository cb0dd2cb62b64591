"""The page of one run: documents in, a `Page` out; nothing is read or written here."""

from collections.abc import Iterator

from misheard.command_lines import path_argument
from misheard.report.html.page import Code, Page, Prose, Section
from misheard.report.html.run_costs import costs_section
from misheard.report.html.run_distributions import distributions_section
from misheard.report.html.run_documents import RunDocuments
from misheard.report.html.run_facts import (
    configuration_section,
    determinism_section,
    reproduce_section,
    suite_section,
)
from misheard.report.html.run_failures import failures_section
from misheard.report.html.run_highlights import highlights
from misheard.report.html.run_losses import losses_section
from misheard.report.html.run_matrix import matrix_section
from misheard.report.html.run_times import latencies_section, machine_section
from misheard.report.html.run_verdict import banner, verdict_section
from misheard.report.labels import profile_sentence, system_name
from misheard.report.takeaway import leading
from misheard.report.terminal_legend import terms
from misheard.report.terminal_report import header_parts, suite_title
from misheard.report.values import Document


def run_page(documents: RunDocuments) -> Page:
    """Return the page of a run: what is worst, what each stage loses, and everything that they rest on."""
    report = documents.report
    lost = report["propagation"]["lost_to_recognition"]
    return Page(
        title=suite_title(report),
        label="Run",
        facts=(
            documents.name,
            *header_parts(report),
            *system_names(documents.run["config"]),
            *_profile(report),
        ),
        banner=banner(documents.verdict),
        highlights=tuple(highlights(report)),
        lead=tuple(report["takeaway"]),
        lead_note="; ".join(terms(filter(None, [leading(lost)]), report["scorer"])),
        sections=tuple(_sections(documents)),
    )


def system_names(config: Document) -> Iterator[str]:
    """Yield what a config puts under test: its own name, else the models by the last part of theirs."""
    if (own := system_name(config)) is not None:
        yield own
        return
    for part in ("recognizer", "language_model"):
        settings = config.get(part) or {}
        name = settings.get("model") or settings.get("kind")
        if name:
            yield str(name).rstrip("/").rpartition("/")[2]


def _profile(report: Document) -> Iterator[str]:
    if (sentence := profile_sentence(report["scorer"])) is not None:
        yield sentence


def _sections(documents: RunDocuments) -> Iterator[Section]:
    report = documents.report
    yield from verdict_section(documents.verdict)
    yield matrix_section(report)
    yield from costs_section(report)
    yield from losses_section(report)
    yield from distributions_section(documents)
    yield from latencies_section(documents)
    yield failures_section(documents)
    yield no_items_section(documents)
    yield from machine_section(documents)
    yield determinism_section(documents)
    yield suite_section(documents)
    yield configuration_section(documents)
    yield reproduce_section(documents)


def no_items_section(documents: RunDocuments) -> Section:
    """Return how to come to the items behind the figures, which no page has unless it is asked for them."""
    told = "The items behind a cell, with texts, alignments and recordings, are in the page that this writes:"
    command = f"misheard report {path_argument(documents.name)} --html --with-text"
    return Section("items", "Items", (Prose((told,)), Code(command)), "no text of an item is in this page")
