"""Splitting: a partition by whole sessions, balanced, by seed alone; new items move no old ones."""

import itertools
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_suites import read_rows, rows_of, sets_of, write_suite

from command_line import misheard
from misheard.errors import InputError, SuiteError
from misheard.suite.dividing import extend_suite, rotate_suite, split_suite
from misheard.suite.division import divide
from misheard.suite.items import Item, ItemKind
from misheard.suite.manifest import load_suite, load_whole
from misheard.suite.rotation import rotate
from misheard.suite.selection import SetName
from misheard.suite.split import Split
from misheard.suite.splitting import Shares, extend_split, split_items
from misheard.suite.units import units_of

AXES = {"noise": ("clean", "15dB", "5dB"), "mic": ("near", "far")}


@st.composite
def suites(draw: st.DrawFn, sessions: int = 30) -> tuple[Item, ...]:
    """Items in sessions of 1 to 3, some alone, some derived from others, enough for a holdout."""
    items: list[Item] = []
    for session in range(draw(st.integers(sessions, sessions * 2))):
        alone = draw(st.booleans())
        noise = draw(st.sampled_from(AXES["noise"]))
        for index in range(1 if alone else draw(st.integers(1, 3))):
            items.append(
                Item(
                    f"i{session}-{index}",
                    "a.wav",
                    "b",
                    kind=draw(st.sampled_from(ItemKind)),
                    session=None if alone else f"s{session}",
                    conditions={"noise": noise, "mic": draw(st.sampled_from(AXES["mic"]))},
                    source=draw(st.sampled_from([None, items[-1].id])) if alone and items else None,
                )
            )
    return tuple(items)


shares = st.builds(Shares, st.floats(0.05, 0.1), st.floats(0, 0.4), st.floats(0, 0.3))
seeds = st.integers(0, 2**63 - 1)


def try_split(items: tuple[Item, ...], wanted: Shares, seed: int) -> Split | None:
    try:
        return split_items(items, AXES, wanted, seed)
    except InputError:
        return None


def sets(split: Split) -> dict[str, SetName]:
    return {item: unit.set for unit in split.units.values() for item in unit.items}


@settings(max_examples=60, deadline=None)
@given(items=suites(), wanted=shares, seed=seeds)
def test_a_split_is_a_partition_by_whole_units_within_bounds(
    items: tuple[Item, ...], wanted: Shares, seed: int
) -> None:
    split = try_split(items, wanted, seed)
    if split is None:
        return
    listed = [item for unit in split.units.values() for item in unit.items]
    assert sorted(listed) == sorted(item.id for item in items)
    assert {unit: record.items for unit, record in split.units.items()} == units_of(items)
    found = sets(split)
    for item in items:
        together = [other for other in items if item.session is not None and other.session == item.session]
        assert {found[other.id] for other in together} <= {found[item.id]}
        if item.source is not None:
            assert found[item.source] is found[item.id]
    counts = Counter(found.values())
    assert 0.05 <= counts[SetName.HOLDOUT] / len(items) <= 0.10
    assert counts[SetName.ROLLING] > 0
    assert counts[SetName.RETIRED] == 0


@settings(max_examples=30, deadline=None)
@given(items=suites(), wanted=shares, seed=seeds)
def test_a_split_depends_on_items_and_seed_alone(items: tuple[Item, ...], wanted: Shares, seed: int) -> None:
    first = try_split(items, wanted, seed)
    assert try_split(items, wanted, seed) == first
    # Where sessions are joined by a source, the order of the items decides after which the unit is named.
    if first is not None and all(item.source is None for item in items):
        turned = try_split(items[::-1], wanted, seed)
        assert turned is not None and sets(turned) == sets(first)


@settings(max_examples=40, deadline=None)
@given(items=suites(), more=suites(1), wanted=shares, seed=seeds, to=st.sampled_from(SetName))
def test_new_items_move_no_old_ones(
    items: tuple[Item, ...], more: tuple[Item, ...], wanted: Shares, seed: int, to: SetName
) -> None:
    split = try_split(items, wanted, seed)
    if split is None:
        return
    joining = replace(items[0], id="joining", source=items[0].id)
    new = tuple(
        replace(item, id=f"new-{item.id}", session=item.session and f"new-{item.session}", source=None)
        for item in more
    )
    extended, added, gone = extend_split(split, (*items, joining, *new), to)
    before, after = sets(split), sets(extended)
    assert {item: after[item] for item in before} == before
    assert after["joining"] is before[items[0].id]
    assert {after[item.id] for item in new} == {to}
    assert set(added) == {"joining", *(item.id for item in new)}
    assert gone == ()


@settings(max_examples=40, deadline=None)
@given(items=suites(), share=st.floats(0.05, 0.6), seed=seeds, reuse=st.booleans())
def test_rotation_moves_only_rolling_reserve_and_retired(
    items: tuple[Item, ...], share: float, seed: int, reuse: bool
) -> None:
    split = try_split(items, Shares(0.08, 0.2, 0.3), 1)
    if split is None:
        return
    for number in (1, 2, 3):
        try:
            rotated = rotate(split, items, AXES, share=share, seed=seed, reuse=reuse)
        except InputError:
            return
        before, after = sets(split), sets(rotated.split)
        assert rotated.split.rotation == number
        moves = {(before[item], after[item]) for item in before if before[item] is not after[item]}
        allowed = {(SetName.ROLLING, SetName.RETIRED), (SetName.RESERVE, SetName.ROLLING)}
        assert moves <= allowed | ({(SetName.RETIRED, SetName.ROLLING)} if reuse else set())
        assert (SetName.ROLLING, SetName.RETIRED) in moves
        for unit in rotated.retired:
            assert rotated.split.units[unit].rotation == number
        split = rotated.split


def test_a_seed_means_the_same_sets_in_every_version() -> None:
    items = [
        Item(row["id"], "a.wav", "b", session=row["session"], conditions=row["conditions"])
        for row in rows_of(30)
    ]
    split = split_items(items, AXES | {"noise": ("clean", "5dB")}, Shares(0.07, 0.2, 0.2), 1)
    sessions = {
        name: [unit.removeprefix("session:") for unit, record in split.units.items() if record.set is name]
        for name in (SetName.HOLDOUT, SetName.REGRESSION, SetName.RESERVE)
    }
    assert sessions == {
        SetName.HOLDOUT: ["s07", "s26"],
        SetName.REGRESSION: ["s02", "s04", "s08", "s09", "s13", "s23"],
        SetName.RESERVE: ["s03", "s05", "s12", "s16", "s18", "s19"],
    }


def test_each_condition_gets_its_share() -> None:
    items = [
        Item(f"i{n}", "a.wav", "b", session=f"s{n // 2}", conditions={"noise": AXES["noise"][n // 2 % 3]})
        for n in range(600)
    ]
    split = split_items(items, AXES, Shares(0.07, 0.2), 3)
    division = divide(split, items, AXES)
    for name in AXES["noise"]:
        assert division.conditions[f"noise={name}"][SetName.HOLDOUT] == 14
        assert division.conditions[f"noise={name}"][SetName.REGRESSION] == 40


def test_one_session_that_fits_is_found_among_items_that_fit_worse() -> None:
    speech = [Item(f"q{n}", "a.wav", "b", session=f"s{n % 12}") for n in range(60)]
    noise = [Item(f"n{n}", "a.wav", "", kind=ItemKind.NON_SPEECH) for n in range(6)]
    split = split_items([*speech, *noise], {}, Shares(), 1)
    sealed = [item for item, name in sets(split).items() if name is SetName.HOLDOUT]
    assert len(sealed) == 5
    assert all(item.startswith("q") for item in sealed)


def test_what_cannot_be_balanced_is_said() -> None:
    items = [
        Item(f"i{n}", "a.wav", "b", session=f"s{n // 5}", conditions={"mic": "far" if n < 5 else "near"})
        for n in range(75)
    ]
    split = split_items(items, AXES, Shares(), 1)
    sealed = next(unit for unit, record in split.units.items() if record.set is SetName.HOLDOUT)
    other = "mic=far" if sealed != "session:s0" else "mic=near"
    assert any(f"nothing of {other}" in warning for warning in divide(split, items, AXES).warnings)


@pytest.mark.parametrize(
    ("count", "per_session", "wanted", "message"),
    [
        (40, 1, Shares(holdout=0.2), "--holdout 0.2: must be from 0.05 to 0.1"),
        (40, 1, Shares(holdout=0), "--holdout 0: must be from"),
        (40, 1, Shares(holdout=float("nan")), "--holdout nan: must be from"),
        (40, 1, Shares(regression=1.0), "--regression 1: must be at least 0"),
        (40, 1, Shares(reserve=-0.1), "--reserve -0.1: must be at least 0"),
        (40, 1, Shares(regression=0.5, reserve=0.45), "the rolling set needs a share"),
        (9, 1, Shares(), "no whole sessions with 5% to 10% of the items"),
        (6, 4, Shares(), "the smallest of 6 sessions has 4. A holdout takes about 10 sessions or more"),
        (1, 30, Shares(), "Do not cut sessions up"),
    ],
)
def test_shares_that_cannot_be(count: int, per_session: int, wanted: Shares, message: str) -> None:
    items = [Item(f"i{n}", "a.wav", "b", session=f"s{n // per_session}") for n in range(count * per_session)]
    with pytest.raises(InputError) as caught:
        split_items(items, {}, wanted, 1)
    assert message in str(caught.value)


@pytest.fixture
def divided(tmp_path: Path) -> Path:
    root = write_suite(tmp_path / "suite", rows_of(30))
    split_suite(root, Shares(0.07, 0.2, 0.2), 1)
    return root


def test_loading_leaves_out_what_is_not_asked_for(divided: Path) -> None:
    found = sets_of(divided)
    for subset, names in (
        ("open", {"regression", "rolling"}),
        ("regression", {"regression"}),
        ("rolling", {"rolling"}),
        ("unsealed", {"regression", "rolling", "reserve", "retired"}),
    ):
        suite = load_suite(divided, subset=subset)  # type: ignore[arg-type]
        assert [i.id for i in suite.items] == [
            row["id"] for row in read_rows(divided) if found[row["id"]] in names
        ]
        assert suite.selection is not None
        assert suite.selection.sealed == 4
        assert set(suite.selection.left_out) == {i for i, name in found.items() if name not in names}
    assert load_suite(divided).selection.note() == "4 items sealed, 12 in reserve"  # type: ignore[union-attr]


def test_an_unsplit_suite_has_all_and_no_sets(tmp_path: Path) -> None:
    root = write_suite(tmp_path, rows_of(3))
    assert load_suite(root).selection is None
    assert len(load_suite(root, subset="unsealed").items) == 6
    with pytest.raises(SuiteError, match=r"no regression set: it is not split"):
        load_suite(root, subset="regression")


def edit_split(root: Path, change: Any) -> None:
    document = json.loads((root / "split.json").read_text())
    change(document)
    (root / "split.json").write_text(json.dumps(document))


def unit(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(u for u in document["units"].values() if u["set"] == name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="x"), "was not written by misheard suite split"),
        (lambda d: d.update(format_version=2), "is not of the version 1"),
        (lambda d: d.update(colour=1), "unknown field 'colour'"),
        (lambda d: d.update(seed=-1), "seed must be a whole number"),
        (lambda d: d.update(seed=True), "seed must be a whole number"),
        (lambda d: d.update(rotation="1"), "rotation must be a whole number"),
        (lambda d: d.update(shares={}), "shares must give holdout, regression, reserve"),
        (lambda d: d["shares"].update(holdout=2), "shares: holdout must be a number"),
        (lambda d: d.update(units=[]), "units must be an object"),
        (lambda d: d["units"].update(x={"set": "rolling", "items": ["x"], "rotation": 0}), "must be called"),
        (lambda d: d["units"].update({"item:x": 3}), "unit 'item:x': must be an object"),
        (lambda d: unit(d, "holdout").update(set="open"), "set must be one of holdout"),
        (lambda d: unit(d, "holdout").update(set=["holdout"]), "set must be one of holdout"),
        (lambda d: unit(d, "holdout").update(items=[]), "items must be a list of different ids"),
        (lambda d: unit(d, "holdout").update(items=["../x"]), "items must be a list of different ids"),
        (lambda d: unit(d, "holdout").update(items=[[1]]), "items must be a list of different ids"),
        (lambda d: unit(d, "holdout").update(rotation=1), "rotation must be a whole number from 0 to 0"),
        (lambda d: unit(d, "holdout").update(why="x"), "unknown field 'why'"),
        (
            lambda d: unit(d, "rolling")["items"].append(unit(d, "holdout")["items"][0]),
            "is in 'session:",
        ),
        (lambda d: d["units"].pop("session:s03"), "2 items are in no set: q03-0, q03-1; put new items"),
        (
            lambda d: d["units"].update({"item:x": {"set": "rolling", "items": ["x"], "rotation": 0}}),
            "1 item is gone from the suite: x; bring them back",
        ),
    ],
)
def test_each_rule_of_a_split_has_its_message(divided: Path, change: Any, message: str) -> None:
    edit_split(divided, change)
    with pytest.raises(SuiteError) as caught:
        load_suite(divided)
    assert message in str(caught.value)
    assert "split.json" in str(caught.value)
    assert "canary" not in str(caught.value)


def test_a_session_edited_away_from_its_set_is_noticed(divided: Path) -> None:
    rows = read_rows(divided)
    sealed = next(item for item, name in sets_of(divided).items() if name == "holdout")
    for row in rows:
        if row["id"] == sealed:
            row["session"] = next(r["session"] for r in rows if sets_of(divided)[r["id"]] == "rolling")
    write_suite(divided, rows)
    with pytest.raises(SuiteError, match=f"1 item is in another session .* {sealed}; put the session back"):
        load_suite(divided)
    with pytest.raises(InputError, match=f"item {sealed} is in another session"):
        extend_suite(divided, SetName.ROLLING)


def test_split_json_that_is_no_file_or_leads_nowhere_is_a_problem(divided: Path) -> None:
    (divided / "split.json").unlink()
    (divided / "split.json").symlink_to("nowhere.json")
    with pytest.raises(SuiteError, match=r"split\.json: cannot be read"):
        load_suite(divided)
    (divided / "split.json").unlink()
    (divided / "split.json").mkdir()
    with pytest.raises(SuiteError, match=r"split\.json: cannot be read"):
        load_suite(divided)


def test_a_derived_item_follows_its_source_into_the_holdout(divided: Path) -> None:
    rows = read_rows(divided)
    sealed = next(row for row in rows if sets_of(divided)[row["id"]] == "holdout")
    tier = {**sealed, "id": f"{sealed['id']}-5dB", "source": sealed["id"], "audio": "audio/tier.wav"}
    write_suite(divided, [*rows, tier])
    assert tier["id"] in load_suite(divided).selection.left_out  # type: ignore[union-attr]


def test_splitting_twice_extending_nothing_and_rotating_too_much_are_refused(divided: Path) -> None:
    before = (divided / "split.json").read_bytes()
    with pytest.raises(InputError, match="is split already; --extend"):
        split_suite(divided, Shares(), 1)
    with pytest.raises(InputError, match="every item is in a set already"):
        extend_suite(divided, SetName.ROLLING)
    with pytest.raises(InputError, match="32 items are to be replaced, and 12 are in reserve: add record"):
        rotate_suite(divided, share=1.0, seed=1, reuse=False)
    with pytest.raises(InputError, match="--share 0: must be above 0"):
        rotate_suite(divided, share=0.0, seed=1, reuse=False)
    assert (divided / "split.json").read_bytes() == before


def test_processes_divide_a_suite_one_after_the_other(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", rows_of(30))

    def together(*commands: list[str]) -> list[tuple[int, str]]:
        running = [
            subprocess.Popen(
                [sys.executable, "-m", "misheard", "suite", command, str(root), *options],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for command, *options in commands
        ]  # fmt: skip
        ended = [(process, process.communicate(timeout=120)[1]) for process in running]
        return sorted((process.returncode, error) for process, error in ended)

    made, *refused = together(*(["split", "--reserve", "0.5", "--seed", str(seed)] for seed in range(3)))
    assert made[0] == 0
    assert all(code == 2 and "is split already" in error for code, error in refused)
    assert [code for code, _ in together(*[["rotate"]] * 3)] == [0, 0, 0]
    assert json.loads((root / "split.json").read_text())["rotation"] == 3


def refusal(split: Split, items: Sequence[Item], share: float, *, reuse: bool = False) -> str:
    with pytest.raises(InputError) as caught:
        rotate(split, items, {}, share=share, seed=1, reuse=reuse)
    return str(caught.value)


def in_sessions(count: int, per_session: int) -> list[Item]:
    return [Item(f"i{n}", "a.wav", "b", session=f"s{n // per_session}") for n in range(count * per_session)]


def test_a_rotation_without_a_reserve_says_what_to_do_and_no_share_of_nothing() -> None:
    items = in_sessions(20, 3)
    message = refusal(split_items(items, {}, Shares(), 1), items, 0.2)
    assert "and 0 are in reserve: " in message and "split SUITE --extend --to reserve" in message
    assert "make one with --reserve 0.2" in message
    assert "--share" not in message and "--reuse" not in message


def test_a_rotation_that_is_too_large_names_a_share_that_works() -> None:
    for per_session, reserve in itertools.product((1, 3, 7), (0.05, 0.1, 0.2)):
        items = in_sessions(20, per_session)
        split = split_items(items, {}, Shares(reserve=reserve), 1)
        message = refusal(split, items, 1.0)
        assert "make one with" not in message
        share = float(message.rpartition("ask for --share ")[2])
        assert share > 0 and rotate(split, items, {}, share=share, seed=1).retired


def test_retired_items_are_offered_until_they_are_used_up() -> None:
    items = in_sessions(20, 1)
    once = rotate(split_items(items, {}, Shares(reserve=0.1), 1), items, {}, share=0.1, seed=1).split
    assert "bring retired items back with --reuse" in refusal(once, items, 0.5)
    message = refusal(once, items, 0.5, reuse=True)
    assert "are in reserve or retired: " in message and "--reuse" not in message


def test_a_share_below_the_smallest_session_is_refused_as_such() -> None:
    items = in_sessions(20, 20)
    message = refusal(split_items(items, {}, Shares(reserve=0.2), 1), items, 0.01)
    assert message.startswith("--share 0.01: comes to no whole session, since the smallest")


def test_unsplit_suites_cannot_be_extended_or_rotated(tmp_path: Path) -> None:
    root = write_suite(tmp_path, rows_of(30))
    with pytest.raises(InputError, match="is not split yet"):
        extend_suite(root, SetName.ROLLING)
    with pytest.raises(InputError, match="is not split yet"):
        rotate_suite(root, share=0.2, seed=1, reuse=False)


def test_rotation_replaces_a_fifth_and_keeps_the_fixed_sets(divided: Path) -> None:
    before = sets_of(divided)
    rotated, _ = rotate_suite(divided, share=0.2, seed=1, reuse=False)
    after = sets_of(divided)
    counts = Counter(after.values())
    assert counts["retired"] == 6 and counts["rolling"] == Counter(before.values())["rolling"]
    for name in ("holdout", "regression"):
        assert {i for i in before if before[i] == name} == {i for i in after if after[i] == name}
    assert json.loads((divided / "split.json").read_text())["rotation"] == 1
    noises = {row["id"]: row["conditions"]["noise"] for row in read_rows(divided)}
    lost, won = (
        Counter(noises[i] for u in units for i in rotated.split.units[u].items)
        for units in (rotated.retired, rotated.entered)
    )
    assert lost == won
    suite, found = load_whole(divided)
    assert found is not None
    assert len(suite.items) == 60


def test_extending_lists_what_came_and_what_is_gone(divided: Path) -> None:
    rows = [row for row in read_rows(divided) if row["session"] != "s05"]
    new = {**rows[0], "id": "new", "session": "fresh", "audio": "audio/new.wav"}
    write_suite(divided, [*rows, new])
    extended = extend_suite(divided, SetName.RESERVE)
    assert extended.added == ("new",)
    assert extended.gone == ("q05-0", "q05-1")
    assert sets_of(divided)["new"] == "reserve"
    load_suite(divided)


def test_single_files_have_sidecars_of_their_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        items = [{"id": f"i{n}", "wav": "a.wav", "reference": "b"} for n in range(20)]
        (tmp_path / f"{name}.json").write_text(json.dumps({"items": items}))
    (tmp_path / "a.wav").write_bytes(b"x")
    split_suite(tmp_path / "one.json", Shares(), 1)
    assert (tmp_path / "one.split.json").is_file()
    assert load_suite(tmp_path / "one.json").selection is not None
    assert load_suite(tmp_path / "two.json").selection is None


def test_the_loaders_of_sealed_items_are_called_by_their_keepers_alone() -> None:
    package = Path(__file__).parents[2] / "harness" / "misheard"
    keepers = {
        "load_sealed": {"suite/manifest.py", "suite/holdout.py"},
        "load_whole": {"suite/manifest.py", "suite/lock.py", "suite/dividing.py"},
        "load_undivided": {"suite/manifest.py", "suite/dividing.py"},
    }
    for name, allowed in keepers.items():
        users = {str(p.relative_to(package)) for p in package.rglob("*.py") if name in p.read_text()}
        assert users == allowed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "reserve"], "--to: needs --extend"),
        (["--extend", "--seed", "2"], "--extend: keeps the shares and the seed of the split"),
        (["--extend", "--holdout", "0.07"], "--extend: keeps the shares and the seed of the split"),
        (["--extend"], "is not split yet; leave --extend out"),
    ],
)
def test_options_that_say_nothing_together(tmp_path: Path, options: list[str], message: str) -> None:
    root = write_suite(tmp_path / "suite", rows_of(30))
    done = misheard("suite", "split", root, *options)
    assert done.returncode == 2 and message in done.stderr
    assert not (root / "split.json").exists()


def test_the_command_prints_the_sets_and_what_is_not_balanced(tmp_path: Path) -> None:
    root = write_suite(tmp_path / "suite", rows_of(30))
    done = misheard("suite", "split", root, "--reserve", "0.1")
    assert done.returncode == 0, done.stderr
    assert "holdout" in done.stdout and "noise=5dB" in done.stdout
    assert "the reserve is empty" not in done.stdout
    assert "note: for noise tiers, mix first, then split the tiers" in done.stdout
    assert "canary" not in done.stdout + (root / "split.json").read_text()
    assert Counter(sets_of(root).values())["holdout"] == 4


def test_split_tiers_name_the_suite_that_has_no_seal(tmp_path: Path) -> None:
    rows = rows_of(30)
    tiers = [{**row, "id": f"{row['id']}-5dB", "source": row["id"]} for row in rows]
    root = write_suite(tmp_path / "tiers", [*rows, *tiers])
    done = misheard("suite", "split", root)
    assert done.returncode == 0, done.stderr
    assert "note: the suite that the tiers were mixed from has the recordings that are sealed" in done.stdout
    assert "note: the reserve is empty" in done.stdout
    sets = sets_of(root)
    assert all(sets[tier["id"]] == sets[tier["source"]] for tier in tiers)
