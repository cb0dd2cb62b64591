"""Loading suites: both forms, every rule with its own message, all problems at once, no truth in messages."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from misheard.errors import Problem, SuiteError
from misheard.suite.items import ItemKind, Suite
from misheard.suite.manifest import load_suite, validate_suite
from misheard.suite.problems import MAX_LISTED

HEADER = """\
name: kitchen
version: 1.10
defaults:
  language: en
  scripts: [Latn]
  conditions: {noise: clean}
conditions:
  language: [en, no]
  noise: [clean, 15dB]
gate_axes: [noise]
primary: {en: wer, no: cer}
abstentions:
  en: [I don't know, "no idea"]
char_scripts: [Deva]
"""

SPEECH = {"id": "q01", "audio": "clips/q01.wav", "reference": "what is two plus two"}
SECRET = "zirconium xylophone"  # noqa: S105  (stands for truth that must not leak)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "clips").mkdir()
    for name in ("q01", "q02", "n01"):
        soundfile.write(tmp_path / "clips" / f"{name}.wav", np.zeros(1600, np.float32), 16_000)
    return tmp_path


def write(folder: Path, *items: Any, header: str = HEADER) -> Path:
    (folder / "suite.yaml").write_text(header)
    lines = [item if isinstance(item, str) else json.dumps(item) for item in items]
    (folder / "items.jsonl").write_text("".join(line + "\n" for line in lines))
    return folder


def problems(path: Path, **options: Any) -> list[Problem]:
    with pytest.raises(SuiteError) as caught:
        load_suite(path, **options)
    assert caught.value.exit_code == 2
    return list(caught.value.problems)


def only_problem(folder: Path, item: Any, header: str = HEADER) -> str:
    (found,) = problems(write(folder, item, header=header))
    return str(found)


def test_the_canonical_form(folder: Path) -> None:
    write(
        folder,
        {
            **SPEECH,
            "reference_answer": "Four.",
            "fact": ["4", "four"],
            "session": "anna",
            "kind": None,
            "entities": ["Two", "plus two"],
        },
        {
            "id": "q02",
            "audio": "./clips//q02.wav",
            "reference": " hva er to ",
            "language": "no",
            "scripts": [],
            "conditions": {"noise": "15dB"},
        },
        {"id": "n01", "audio": "clips/n01.wav", "kind": "non_speech", "reference": " \n"},
    )
    suite = load_suite(folder)
    assert suite == load_suite(folder / "suite.yaml")
    assert (suite.name, suite.version, suite.root) == ("kitchen", "1.10", folder)
    assert dict(suite.axes) == {"language": ("en", "no"), "noise": ("clean", "15dB")}
    assert suite.gate_axes == ("noise",)
    assert dict(suite.primary_metrics) == {"en": "wer", "no": "cer"}
    assert dict(suite.abstentions) == {"en": ("I don't know", "no idea")}
    first, second, third = suite.items
    assert first.kind is ItemKind.SPEECH
    assert (first.reference_answer, first.fact, first.session) == ("Four.", ("4", "four"), "anna")
    assert (first.language, first.scripts) == ("en", ("Latn",))
    assert (first.entities, second.entities) == (("Two", "plus two"), ())
    assert suite.char_scripts == ("Deva",)
    assert dict(first.conditions) == {"language": "en", "noise": "clean"}
    assert second.audio == "clips/q02.wav"
    assert second.reference == " hva er to "
    assert (second.language, second.scripts, second.session) == ("no", (), None)
    assert dict(second.conditions) == {"language": "no", "noise": "15dB"}
    assert third.kind is ItemKind.NON_SPEECH
    assert third.reference == ""
    assert suite.audio_path(second) == folder / "clips/q02.wav"


def test_a_header_needs_only_a_name_and_a_version(folder: Path) -> None:
    suite = load_suite(write(folder, SPEECH, header="name: a\nversion: 1\ndefaults:\nconditions:\n"))
    assert suite.axes == {}
    assert suite.items[0].conditions == {}
    assert suite.items[0].language is None


def test_an_item_may_give_the_condition_language_itself(folder: Path) -> None:
    item = {**SPEECH, "language": "en-US", "conditions": {"language": "en"}}
    assert load_suite(write(folder, item)).items[0].conditions["language"] == "en"


def test_a_byte_order_mark_and_other_line_ends_are_read(folder: Path) -> None:
    write(folder, SPEECH)
    for name in ("suite.yaml", "items.jsonl"):
        raw = (folder / name).read_bytes().replace(b"\n", b"\r\n")
        (folder / name).write_bytes(b"\xef\xbb\xbf" + raw + b"\r\n\r\n")
    assert load_suite(folder).items[0].id == "q01"


def test_line_separators_inside_text_do_not_end_a_line(folder: Path) -> None:
    line = json.dumps({**SPEECH, "reference": "a\u2028b\u0085c"}, ensure_ascii=False)
    assert load_suite(write(folder, line)).items[0].reference == "a\u2028b\u0085c"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": None}, "id is missing"),
        ({"id": "a b"}, "id must be 1 to 80"),
        ({"id": "a\n"}, "id must be 1 to 80"),
        ({"id": "ä"}, "id must be 1 to 80"),
        ({"id": "a" * 81}, "id must be 1 to 80"),
        ({"id": 7}, "id must be 1 to 80"),
        ({"audio": None}, "audio is missing"),
        ({"audio": 3}, "audio must be text, not a number"),
        ({"audio": ""}, "is empty"),
        ({"audio": "."}, "is empty"),
        ({"audio": "/etc/hostname"}, "is absolute"),
        ({"audio": "C:/clips/q01.wav"}, "is absolute"),
        ({"audio": "clips\\q01.wav"}, "holds a backslash"),
        ({"audio": "..\\..\\q01.wav"}, "holds a backslash"),
        ({"audio": "../q01.wav"}, "leaves the suite's folder"),
        ({"audio": "clips/../clips/q01.wav"}, "leaves the suite's folder"),
        ({"audio": "clips/q01.wav\0.txt"}, "holds a NUL"),
        ({"audio": "clips/q01.wav/"}, None),
        ({"audio": "clips/q09.wav"}, "names no file"),
        ({"audio": "clips/q01.wav/q01.wav"}, "names no file"),
        ({"audio": "clips"}, "is not a regular file"),
        ({"audio": "a" * 300}, "too long"),
        ({"audio": "a/" * 600 + "a"}, "longer than 1024"),
        ({"audio": "\ud800"}, "surrogate"),
        ({"reference": None}, "reference is missing"),
        ({"reference": ""}, "reference is empty"),
        ({"reference": " \t\u3000"}, "reference is empty"),
        ({"reference": ["a"]}, "reference must be text, not a list"),
        ({"reference": "\ud83d"}, "surrogate"),
        ({"reference": "a " * 2000}, None),
        ({"reference": "a " * 2001}, "reference has 2001 words, more than 2000"),
        ({"kind": "non_speech"}, "reference must be empty"),
        ({"kind": "music"}, "kind is not speech or non_speech"),
        ({"kind": True}, "kind must be text, not true or false"),
        ({"reference_answer": " "}, "reference_answer is empty"),
        ({"reference_answer": {}}, "reference_answer must be text, not an object"),
        ({"fact": "four"}, "fact must be a list of texts, not text"),
        ({"fact": [4]}, "fact must be text, not a number"),
        ({"fact": [None]}, "fact must be text, not null"),
        ({"fact": ["four", " "]}, "fact holds an empty text"),
        ({"entities": "two"}, "entities must be a list of texts, not text"),
        ({"entities": ["two", ""]}, "entities holds an empty text"),
        ({"entities": ["two", "three"]}, "entities[1] is not said in the reference"),
        ({"entities": ["tw"]}, "entities[0] is not said in the reference"),
        ({"entities": ["TWO PLUS"]}, None),
        ({"entities": ["2"]}, None),
        ({"kind": "non_speech", "reference": "", "entities": ["two"]}, "entities must be left out"),
        ({"language": "english language"}, "language is not a language tag"),
        ({"language": "de"}, "language 'de' is no declared value of the axis language"),
        ({"scripts": ["latin"]}, "scripts holds something that is not a script code"),
        ({"scripts": ["Latin"]}, "scripts holds something that is not a script code"),
        ({"scripts": ["Latm"]}, "scripts: script 'Latm' is not known"),
        ({"scripts": ["Jpan"]}, None),
        ({"session": ""}, "session must be one line"),
        ({"session": "a\nb"}, "session must be one line"),
        ({"conditions": ["clean"]}, "conditions must be an object, not a list"),
        ({"conditions": {"noise": 15}}, "conditions.noise must be text, not a number"),
        ({"conditions": {"nois": "15dB"}}, "undeclared axis 'nois' (did you mean 'noise'?)"),
        ({"conditions": {"mic": "far"}}, "undeclared axis 'mic' (known: 'language', 'noise')"),
        ({"conditions": {"noise": "15db"}}, "undeclared value '15db' (did you mean '15dB'?)"),
        ({"referense": "a"}, "unknown field 'referense' (did you mean 'reference'?)"),
        ({"wav": "clips/q01.wav"}, "unknown field 'wav'"),
    ],
)
def test_each_rule_has_its_own_message(folder: Path, change: dict[str, Any], message: str | None) -> None:
    item = {**SPEECH, **change}
    if message is None:
        load_suite(write(folder, item))
        return
    found = only_problem(folder, item)
    assert message in found
    assert found.startswith("items.jsonl:1: " if "id" in change else "item q01 (items.jsonl:1): ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not valid JSON at column 2"),
        ("[]", "must be an object"),
        ("null", "is null"),
        ('"text"', "must be an object"),
        ('{"id": "a", "id": "b"}', "the key 'id' appears twice"),
        ('{"id": "a", "conditions": {"noise": "a", "noise": "b"}}', "the key 'noise' appears twice"),
        ('{"id": NaN}', "NaN is not JSON"),
        ('{"id": ' + "1" * 5000 + "}", "too many digits"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": "' + "a" * (1 << 20) + '"}', "more than 1 MiB"),
    ],
)
def test_lines_that_are_no_items(folder: Path, line: str, message: str) -> None:
    write(folder, SPEECH, "", line)
    (found,) = problems(folder)
    assert found.where == "items.jsonl:3"
    assert message in found.what


def test_invalid_utf8_is_placed(folder: Path) -> None:
    write(folder, SPEECH)
    with (folder / "items.jsonl").open("ab") as file:
        file.write(b'{"id": "\xff"}\n')
    (found,) = problems(folder)
    assert str(found) == "items.jsonl:2: not UTF-8 at byte 9"


def test_ids_are_unique_and_both_places_are_named(folder: Path) -> None:
    found = only_problem_of(write(folder, SPEECH, {**SPEECH, "id": "q02"}, {**SPEECH, "reference": SECRET}))
    assert found == "item q01 (items.jsonl:3): the id is taken by items.jsonl:1; ids are unique"


def only_problem_of(path: Path) -> str:
    (found,) = problems(path)
    return str(found)


def test_all_problems_are_listed_at_once(folder: Path) -> None:
    write(
        folder,
        {"id": "q01", "audio": "../x.wav", "reference": "", "session": 4},
        "{",
        {"id": "q01", "audio": "clips/q02.wav", "reference": "a", "fact": "b"},
        header=HEADER + "colour: red\n",
    )
    places = [found.where for found in problems(folder)]
    assert places == [
        "suite.yaml",
        *["item q01 (items.jsonl:1)"] * 3,
        "items.jsonl:2",
        *["item q01 (items.jsonl:3)"] * 2,
    ]


def test_a_flood_of_problems_is_counted(folder: Path) -> None:
    found = problems(write(folder, *["{"] * (MAX_LISTED + 5)))
    assert len(found) == MAX_LISTED + 1
    assert "5 more problems" in found[-1].what


def test_a_suite_without_items(folder: Path) -> None:
    assert "the suite has no items" in only_problem_of(write(folder))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("", "the file is empty"),
        ("- a\n", "must be a mapping"),
        ("just text\n", "must be a mapping"),
        ("name: a\n", "version is missing"),
        ("version: 1\n", "name is missing"),
        ("name: a\nversion: [1]\n", "version must be text, not a list"),
        ("name: [a\nversion: 1\n", "not valid YAML"),
        ("name: a\nname: b\nversion: 1\n", "suite.yaml:2: the key 'name' appears twice"),
        ("name: &a x\nversion: *a\n", "suite.yaml:1: anchors and aliases are not allowed"),
        ("name: !!python/object/apply:os.getcwd []\nversion: 1\n", "tags are not allowed"),
        ("name: a\nversion: !!int 1\n", "tags are not allowed"),
        ("name: a\nversion: 1\nabstentions: " + "[" * 50 + "]" * 50 + "\n", "nested too deeply"),
        ("name: a\nversion: " + "[" * 100_000, "nested too deeply"),
        ("? [a]\n: b\n", "a key is not text"),
        ("name: a\nversion: 1\n---\nname: b\n", "not valid YAML"),
        ("name: a\0b\nversion: 1\n", "not valid YAML"),
        ("name: a\nversion: 1\n" + "#" * 300_000, "more than 262144 bytes"),
        ("name: a\nversion: 1\ncondition: {}\n", "unknown field 'condition' (did you mean 'conditions'?)"),
        ("name: a\nversion: 1\nconditions: [noise]\n", "conditions must be an object"),
        ("name: a\nversion: 1\nconditions: {noise: clean}\n", "conditions.noise must be a list"),
        ("name: a\nversion: 1\nconditions: {noise: []}\n", "declares no values for 'noise'"),
        ("name: a\nversion: 1\nconditions: {noise: [a, a]}\n", "declares a value of 'noise' twice"),
        ("name: a\nversion: 1\nconditions: {Noise: [a]}\n", "the axis 'Noise'; use lower-case"),
        ("name: a\nversion: 1\ngate_axes: [mic]\n", "gate_axes names the undeclared axis 'mic'"),
        ("name: a\nversion: 1\nprimary: {english: wer}\n", "primary has the key 'english'"),
        ("name: a\nversion: 1\nabstentions: {en: no}\n", "abstentions.en must be a list of texts, not text"),
        ("name: a\nversion: 1\nchar_scripts: Deva\n", "char_scripts must be a list of texts, not text"),
        ("name: a\nversion: 1\nchar_scripts: [hindi]\n", "char_scripts holds something that is not a script"),
        ("name: a\nversion: 1\ndefaults: en\n", "defaults must be an object"),
        ("name: a\nversion: 1\ndefaults: {id: q}\n", "suite.yaml defaults: unknown field 'id'"),
        ("name: a\nversion: 1\ndefaults: {kind: noise}\n", "suite.yaml defaults: kind is not"),
        (
            "name: a\nversion: 1\ndefaults: {conditions: {mic: far}}\n",
            "suite.yaml defaults: conditions names",
        ),
    ],
)
def test_headers_that_are_wrong(folder: Path, header: str, message: str) -> None:
    assert message in only_problem(folder, SPEECH, header=header)


def test_manifests_that_are_not_there(folder: Path) -> None:
    assert "cannot be read: No such file" in str(problems(folder / "other.json")[0])
    assert "suite.yaml: cannot be read" in str(problems(folder)[0])
    assert "is no suite" in str(problems(folder / "suite.csv")[0])
    (folder / "suite.yaml").write_text(HEADER)
    assert only_problem_of(folder).startswith("items.jsonl: cannot be read")


@pytest.mark.timeout(20)
def test_manifests_that_are_no_files_do_not_hang(folder: Path) -> None:
    os.mkfifo(folder / "suite.json")
    os.mkfifo(folder / "items.jsonl")
    (folder / "suite.yaml").symlink_to("/dev/zero")
    assert "not a regular file" in only_problem_of(folder / "suite.json")
    assert [found.where for found in problems(folder)] == ["suite.yaml", "items.jsonl"]


# --- links


def test_links_inside_the_folder_are_fine(folder: Path) -> None:
    (folder / "link.wav").symlink_to("clips/q01.wav")
    (folder / "linked").symlink_to(folder / "clips")
    write(folder, {**SPEECH, "audio": "link.wav"}, {**SPEECH, "id": "b", "audio": "linked/q02.wav"})
    assert len(load_suite(folder).items) == 2


def test_a_suite_reached_through_a_link_is_fine(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    link = tmp_path_factory.mktemp("elsewhere") / "suite"
    link.symlink_to(write(folder, SPEECH))
    assert load_suite(link).items[0].audio == "clips/q01.wav"


@pytest.mark.parametrize("require_audio", [True, False])
@pytest.mark.parametrize("exists", [True, False])
def test_links_out_of_the_folder_are_refused(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, require_audio: bool, exists: bool
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    if exists:
        (outside / "a.wav").write_bytes(b"x")
    (folder / "file.wav").symlink_to(outside / "a.wav")
    (folder / "dir").symlink_to(outside)
    (folder / "hop.wav").symlink_to("file.wav")
    names = ["file.wav", "dir/a.wav", "hop.wav"]
    write(folder, *({**SPEECH, "id": f"q{i}", "audio": name} for i, name in enumerate(names)))
    found = problems(folder, require_audio=require_audio)
    assert len(found) == 3
    assert all("leads out of the suite's folder" in problem.what for problem in found)


def test_a_loop_of_links_is_refused(folder: Path) -> None:
    (folder / "a.wav").symlink_to("b.wav")
    (folder / "b.wav").symlink_to("a.wav")
    assert "a.wav" in only_problem(folder, {**SPEECH, "audio": "a.wav"})


def test_a_sibling_whose_name_starts_alike_is_outside(folder: Path) -> None:
    root = folder / "suite"
    (folder / "suite-other").mkdir()
    root.mkdir()
    (folder / "suite-other" / "a.wav").write_bytes(b"x")
    (root / "a.wav").symlink_to("../suite-other/a.wav")
    assert "leads out" in only_problem(root, {**SPEECH, "audio": "a.wav"})


def test_missing_audio_can_be_left_to_the_run(folder: Path) -> None:
    os.mkfifo(folder / "pipe.wav")
    items = [{**SPEECH, "audio": "gone.wav"}, {**SPEECH, "id": "b", "audio": "pipe.wav"}]
    suite = load_suite(write(folder, *items), require_audio=False)
    assert [item.audio for item in suite.items] == ["gone.wav", "pipe.wav"]
    assert len(problems(folder)) == 2


@pytest.mark.parametrize("name", ["a b.wav", 'it\'s "q".wav', "$(id).wav", "കേൾക്കുക.wav", "~", "-rf"])
def test_any_file_name_works(folder: Path, name: str) -> None:
    (folder / "clips" / "q01.wav").rename(folder / name)
    assert load_suite(write(folder, {**SPEECH, "audio": name})).items[0].audio == name


# --- the single-file form


def single(folder: Path, document: Any) -> Path:
    path = folder / "accuracy.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def test_the_single_file_form(folder: Path) -> None:
    path = single(
        folder,
        {
            "items": [
                {"id": "q01", "wav": "clips/q01.wav", "reference": "two words"},
                {"id": "quiet", "wav": "clips/n01.wav", "reference": " "},
            ]
        },
    )
    suite = load_suite(path)
    assert (suite.name, suite.version, suite.root, suite.axes) == ("accuracy", "1", folder, {})
    assert [(item.kind, item.reference) for item in suite.items] == [
        ("speech", "two words"),
        ("non_speech", ""),
    ]
    assert validate_suite(path) == suite


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "must be an object"),
        ({}, "must be an object"),
        ({"items": {}}, "must be an object"),
        ("null", "is null"),
        ("{", "not valid JSON at column 2"),
        ('{\n"items": [}', "not valid JSON at line 2 column 11"),
        ('{"items": [], "items": []}', "appears twice"),
        ({"items": []}, "the suite has no items"),
        ({"items": [3]}, "items[0]: must be an object"),
        ({"items": [{"id": "a", "wav": "clips/q01.wav"}]}, "reference is missing"),
        (
            {"items": [{"id": "a", "wav": "clips/q01.wav", "reference": "b", "kind": "c"}]},
            "unknown field 'kind'",
        ),
        (
            {"items": [{"id": "a", "wav": "../q01.wav", "reference": "b"}]},
            "item a (items[0]): wav '../q01.wav' leaves",
        ),
        (
            {"items": [{"id": "a", "wav": "clips/q01.wav", "reference": "b"}], "name": "x"},
            "unknown field 'name'",
        ),
        ("[" * 200_000, "nested too deeply"),
    ],
)
def test_single_files_that_are_wrong(folder: Path, document: Any, message: str) -> None:
    assert message in only_problem_of(single(folder, document))


def test_invalid_utf8_in_a_single_file_is_placed(folder: Path) -> None:
    path = folder / "a.json"
    path.write_bytes(b'{"items":\n [\xc3]}')
    assert only_problem_of(path) == "a.json: not UTF-8 at line 2, byte 3"


# --- recordings


class Recorder:
    """Takes note of progress."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def begin(self, phase: str, total: int | None) -> None:
        self.calls.append(total)

    def advance(self, steps: int = 1) -> None:
        self.calls.append(steps)


def test_validate_decodes_and_load_does_not(folder: Path) -> None:
    (folder / "clips" / "q02.wav").write_bytes(b"no recording")
    soundfile.write(folder / "clips" / "n01.wav", np.empty(0, np.float32), 16_000)
    whole = (folder / "clips" / "q01.wav").read_bytes()
    (folder / "clips" / "cut.wav").write_bytes(whole[:-100])
    items = [{**SPEECH, "id": name, "audio": f"clips/{name}.wav"} for name in ("q01", "q02", "n01", "cut")]
    assert len(load_suite(write(folder, *items)).items) == 4
    recorder = Recorder()
    with pytest.raises(SuiteError) as caught:
        validate_suite(folder, recorder)
    found = {problem.where.split()[1]: problem.what for problem in caught.value.problems}
    assert {name: what.split(":")[0] for name, what in found.items()} == {
        "q02": "audio_undecodable",
        "n01": "audio_empty",
        "cut": "audio_truncated",
    }
    assert recorder.calls == [4, 1, 1, 1, 1]


def test_validate_lists_manifest_and_recording_problems_together(folder: Path) -> None:
    (folder / "clips" / "q02.wav").write_bytes(b"no recording")
    write(
        folder,
        {**SPEECH, "audio": "clips/q02.wav", "reference": ""},
        {**SPEECH, "id": "b", "audio": "gone.wav"},
    )
    with pytest.raises(SuiteError) as caught:
        validate_suite(folder)
    assert [problem.where.split()[1] for problem in caught.value.problems] == ["q01", "b", "q01"]


def test_a_valid_suite_passes(folder: Path) -> None:
    assert isinstance(validate_suite(write(folder, SPEECH)), Suite)


# --- privacy


@pytest.mark.parametrize(
    "line",
    [
        {**SPEECH, "audio": "gone.wav", "reference": SECRET, "reference_answer": SECRET, "fact": [SECRET]},
        {**SPEECH, "kind": "non_speech", "reference": SECRET},
        {**SPEECH, "reference": [SECRET], "reference_answer": {SECRET: SECRET}, "fact": {SECRET: 1}},
        {**SPEECH, "id": SECRET},
        {**SPEECH, "reference": f"{SECRET} " * 2000},
        {**SPEECH, "reference": f"{SECRET} \ud800"},
        json.dumps({**SPEECH, "reference": SECRET})[:-3],
        json.dumps({**SPEECH, "reference": SECRET}).replace('"reference"', "reference"),
        f'{{"id": "a", "reference": "{SECRET}", "id": "b"}}',
        {**SPEECH, "kind": SECRET, "language": SECRET, "scripts": [SECRET], "session": SECRET + "\n"},
    ],
)
def test_messages_hold_no_truth(folder: Path, line: Any) -> None:
    with pytest.raises(SuiteError) as caught:
        load_suite(write(folder, line))
    assert "zirconium" not in str(caught.value)
    assert "xylophone" not in str(caught.value)


def test_loading_needs_no_audio_library(folder: Path) -> None:
    write(folder, SPEECH)
    code = (
        "import sys, pathlib; from misheard.suite.manifest import load_suite;"
        "load_suite(pathlib.Path(sys.argv[1]));"
        "print({'soundfile', 'torch', 'torchaudio'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, str(folder)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "set()"
