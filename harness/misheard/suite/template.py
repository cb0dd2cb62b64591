"""The suite that `misheard suite init` starts: a template that validates once the recordings are there."""

import json
from pathlib import Path

from misheard.canonical import write_atomic
from misheard.errors import InputError
from misheard.suite.fields import LANGUAGE
from misheard.suite.manifest import HEADER_NAME, ITEMS_NAME
from misheard.suite.primary import usual_metric
from misheard.suite.problems import shown
from misheard.suite.writing import name_for, new_folder

GUIDE_NAME = "RECORDING.md"

_HEADER = """\
# What the items of this suite share. Every value is text; quotes are not needed.
name: {name}
version: 1

# Fields of items that do not give their own.
defaults:
  language: {language}
  conditions: {{noise: quiet}}

# The axes on which results are shown apart, with all their values. Name what you vary: rooms, microphones,
# accents, topics. A value needs 50 items before it gets a verdict.
conditions:
  language: [{language}]
  noise: [quiet, street]

# The axes that a release decision looks at, value by value.
gate_axes: [noise]

# The metric that decides, per language: wer; cer where words are long or not separated; mer where languages
# mix.
primary: {{{language}: {metric}}}

# How an answer says that it does not know, in the language itself, for items with a fact.
# abstentions:
#   en: [I don't know, I am not sure]

# Names and terms that a corrector may be told of (correct.glossary), per language. Take them from the
# product, not from the references.
# glossary:
#   en: [Kubernetes, Anneliese]
"""

_ITEMS = (
    {
        "id": "q01",
        "audio": "audio/q01.wav",
        "reference": "what is the capital of france",
        "reference_answer": "The capital of France is Paris.",
        "fact": ["Paris"],
        "session": "anna-kitchen",
    },
    {"id": "n01", "audio": "audio/n01.wav", "kind": "non_speech", "conditions": {"noise": "street"}},
)

_GUIDE = """\
# Recording this suite

1. Write down what is said, word by word, as `reference` in `items.jsonl`: one line per recording. The two
   lines there are examples; replace them. `reference_answer` and `fact` are for questions; leave them
   out where nothing is answered.
2. Record each into `audio/`, as WAV or FLAC, at 16 kHz or more, with the microphone that your users have.
   Keep half a second before and after the words. Do not clean, level or cut the recordings: the system
   under test has to live with them.
3. Recordings of the same person, microphone and room share a `session`. Statistics resample sessions, so ten
   people with twenty recordings each say more than one person with two hundred. A verdict needs 6 sessions at
   the very least.
4. Record some clips without speech too, such as typing, traffic or silence, with `"kind": "non_speech"`: they
   show what is heard where nothing was said.
5. Check it: `misheard suite validate FOLDER` lists everything that is still wrong, and `misheard suite show
   FOLDER` says how much there is of what.
"""


def init_suite(folder: Path, name: str | None = None, language: str = "en") -> None:
    """Write the template into a new folder. Raises InputError for a folder with content and a bad name."""
    chosen = name_for(folder, name)
    if not LANGUAGE.fullmatch(language):
        raise InputError(f"--language {shown(language)} is no tag such as en")
    with new_folder(folder) as new:
        (new / "audio").mkdir()
        called = json.dumps(chosen, ensure_ascii=False)
        header = _HEADER.format(name=called, language=language, metric=usual_metric(language))
        write_atomic(new / HEADER_NAME, header)
        lines = (json.dumps(item, ensure_ascii=False) + "\n" for item in _ITEMS)
        write_atomic(new / ITEMS_NAME, "".join(lines))
        write_atomic(new / GUIDE_NAME, _GUIDE)
