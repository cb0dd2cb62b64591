"""What a transcript is given to: plans, answers and corrections that came to nothing, and plans not drawn."""

import numpy as np

from misheard.report.labels import count_of
from misheard.soak.checks.base import Answer, no_events
from misheard.soak.checks.turns import judge_share
from misheard.soak.events import EventName
from misheard.soak.limits import Limits
from misheard.soak.table import Trace

_KINDS = (
    ("plans rejected", EventName.PLAN_REJECTED, EventName.PLAN_ACCEPTED),
    ("answers failed", EventName.ANSWER_FAILED, EventName.ANSWER_FINISHED),
    ("corrections failed", EventName.CORRECTION_FAILED, EventName.CORRECTED),
    ("plans not drawn", EventName.RENDER_FAILED, EventName.BOARD_READY),
)
"""Per kind of reply what its failure is called, the failure, and what makes up for it."""


def ask_replies(trace: Trace, limits: Limits) -> tuple[Answer, ...]:
    """Count the turns of which a plan, an answer, a correction or a drawing failed and no later one came."""
    replied = np.zeros(len(trace.id_names["turn"]), dtype=np.bool_)
    first = np.full(replied.size, trace.times.size, dtype=np.int64)
    parts = []
    for words, failure, success in _KINDS:
        failed, good = trace.first_places("turn", failure), trace.first_places("turn", success)
        lost = (failed >= 0) & (good < 0)
        replied |= (failed >= 0) | (good >= 0)
        first[lost] = np.minimum(first[lost], failed[lost])
        parts.append(f"{np.count_nonzero(lost)} {words}")
    total = int(np.count_nonzero(replied))
    if not total:
        return no_events("plan, answer, correction or board of a turn")
    broken = first[first < trace.times.size]
    found = f"{broken.size} of {count_of(total, 'turn')} with a failed reply ({', '.join(parts)})"
    return (judge_share(found, broken, total, limits.failed_replies_at_most),)
