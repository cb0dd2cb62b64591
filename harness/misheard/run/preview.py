"""What a run would do, said without doing it."""

from pathlib import Path

from misheard.config import RunConfig
from misheard.run.answering import PHASES
from misheard.run.runner import load_run_suite


def preview(config: RunConfig, suite_path: Path, limit: int | None) -> str:
    """Return a few lines on what would run. Nothing is decoded, loaded or written.

    Raises SuiteError where the suite has problems.
    """
    suite = load_run_suite(suite_path, limit)
    speech = sum(item.is_speech for item in suite.items)
    questions = sum(item.reference_answer is not None for item in suite.items)
    sessions = len({item.resampling_unit for item in suite.items})
    model = config.language_model
    asks = model is not None and questions > 0
    arms = [str(arm) for arm in PHASES if arm in config.arms] if asks else ["audio"]
    lines = [
        f"suite           {suite.name} {suite.version}: {len(suite.items)} items "
        f"({speech} speech, {len(suite.items) - speech} non-speech), {sessions} resampling units",
        f"recognizer      {config.recognizer.kind}, batches of {config.recognizer.batch_size}",
        f"language model  {model.kind if model is not None else 'none'}",
        f"arms            {', '.join(arms)}",
        f"questions       {questions}, at most {questions * len(arms) if asks else 0} completions",
        f"on failure      {config.on_failure}",
    ]
    return "\n".join(lines)
