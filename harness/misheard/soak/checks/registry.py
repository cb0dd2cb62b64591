"""Every check of the mechanism, in the order shown. A new one is a function and an entry."""

from misheard.soak.checks import board, latency, replies, resources, turns
from misheard.soak.checks.base import MechanismCheck

CHECKS = (
    MechanismCheck(
        "unresolved",
        "What was said must not be lost: nothing may be open once microphone and queues have stopped.",
        turns.ask_unresolved,
    ),
    MechanismCheck(
        "failed_blocks_nothing",
        "One recording that cannot be transcribed must not hold up those after it.",
        turns.ask_blocked,
        conditional=True,
    ),
    MechanismCheck(
        "failed_transcripts",
        "A turn whose transcription failed is counted, or it disappears from every other figure.",
        turns.ask_failed,
    ),
    MechanismCheck(
        "empty_transcripts",
        "A turn without a word is counted, or silence and loss look alike.",
        turns.ask_empty,
    ),
    MechanismCheck(
        "failed_replies",
        "A plan that cannot be read or an answer that does not come is a turn that was heard in vain.",
        replies.ask_replies,
    ),
    MechanismCheck(
        "merged_finals",
        "A final that holds the next turn too makes two things said into one.",
        turns.ask_merged,
    ),
    MechanismCheck(
        "duplicate_finals",
        "A final that comes twice doubles all that follows, and what it costs.",
        turns.ask_duplicates,
    ),
    MechanismCheck(
        "operation_order",
        "An operation before the one that it builds on draws another board than was planned.",
        board.ask_order,
    ),
    MechanismCheck(
        "connections_drawn",
        "A connection that was accepted and is no arrow is missing from the board, and no error says so.",
        board.ask_connections,
    ),
    MechanismCheck(
        "board_keeps_shapes",
        "A board may lose shapes to a remove or a new topic, and to nothing else.",
        board.ask_shrinking,
    ),
    MechanismCheck(
        "ready_after_last_operation",
        "A board that is said to be ready while it is still being drawn is taken for the whole.",
        board.ask_ready,
    ),
    MechanismCheck(
        "audio_coverage",
        "Audio that nobody received is speech that nobody can have heard.",
        resources.ask_audio,
    ),
    MechanismCheck(
        "latency",
        "The right board, late, is another product: each stage has a budget for its 95th percentile.",
        latency.ask_latency,
    ),
    MechanismCheck(
        "latency_drift",
        "A stage that gets slower all the time is fine at first; the line through all its times shows it.",
        latency.ask_drift,
    ),
    MechanismCheck(
        "memory",
        "Memory that grows all the time ends a session that is only long enough.",
        resources.ask_memory,
    ),
    MechanismCheck(
        "queue_depth",
        "A queue that fills is a stage that cannot keep up, before anybody waits for it.",
        resources.ask_queues,
    ),
    MechanismCheck(
        "streaming",
        "Who reads along sees when words come, and which of them change again.",
        latency.ask_streaming,
        conditional=True,
    ),
)
