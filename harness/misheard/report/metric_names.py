"""The metrics by name: what tables call them, under which heading, and in which unit they are."""

import re

LABELS = {
    "wer": "word error rate",
    "cer": "character error rate",
    "mer": "mixed error rate",
    "pier_entities": "entity words wrong",
    "pier_numbers": "numbers wrong",
    "entity_preservation": "entities kept",
    "script_mismatch_rate": "wrong script",
    "script_mismatch_character_rate": "wrong-script characters",
    "word_information_lost": "word information lost",
    "word_information_preserved": "word information kept",
    "wer_compounds_joined": "WER, compounds joined",
    "response_quality": "answer quality",
    "exact_match_rate": "exact match",
    "correct_rate": "correct",
    "abstention_rate": "abstained",
    "hallucination_rate": "hallucinated",
    "non_speech_hallucination_rate": "text where none is",
    "quality_drop": "quality lost",
    "degraded_fraction": "answers worse",
    "improved_fraction": "answers better",
    "response_agreement_f1": "agreement (F1)",
    "flip_rate": "answers changed",
    "wer_corrected": "WER, corrected",
    "cer_corrected": "CER, corrected",
    "mer_corrected": "MER, corrected",
    "over_correction_rate": "right words changed",
    "correction_precision": "edits that help",
    "correction_recall": "errors put right",
    "helpful_edit_rate": "helpful edits",
    "harmful_edit_rate": "harmful edits",
    "changed_transcript_rate": "transcripts changed",
    "correction_failure_rate": "corrections not used",
    "n_best_oracle": "oracle error rate",
    "n_best_recoverable": "recoverable errors",
    "n_best_length": "hypotheses",
    "entity_preservation_corrected": "entities, corrected",
    "entity_preservation_plan": "entities in plans",
    "entity_preservation_board": "entities on boards",
    "corrected_script_mismatch_rate": "wrong script, corr.",
    "label_f1": "labels (F1)",
    "label_precision": "labels that are right",
    "label_recall": "labels drawn",
    "connection_f1": "connections (F1)",
    "connection_precision": "connections right",
    "connection_recall": "connections drawn",
    "labelled_connection_f1": "labelled connections (F1)",
    "empty_board_rate": "empty boards",
    "undrawn_connection_rate": "planned, never drawn",
    "shapes_per_board": "shapes a board",
    "connections_per_board": "connections a board",
    "refused_operations_per_board": "refused a board",
    "label_f1_drop": "labels lost (F1)",
    "connection_f1_drop": "connections lost (F1)",
    "degraded_board_fraction": "boards worse",
    "improved_board_fraction": "boards better",
    "board_flip_rate": "boards changed",
    "segments_per_recording": "segments a recording",
    "judge_meaning_score": "meaning, judged",
    "judge_answer_score": "answers, judged",
}
"""What a metric is called in a table."""

SECTIONS = {
    "propagation": "Lost to mishearing",
    "wer": "Recognition",
    "cer": "Recognition",
    "mer": "Recognition",
    "entities": "Entities and numbers",
    "pier_entities": "Entities and numbers",
    "pier_numbers": "Entities and numbers",
    "script_mismatch": "Scripts",
    "information": "Words and sentences",
    "error_categories": "Kinds of errors",
    "bursts": "Insertion bursts",
    "compounds": "Compounds",
    "response": "Answers, {arm}",
    "answer_class": "Answers, {arm}",
    "non_speech": "Clips without speech",
    "segments": "Segments (not ranked)",
    "entities_corrected": "Entities and numbers",
    "entities_plan": "Entities and numbers",
    "entities_board": "Entities and numbers",
    "script_mismatch_corrected": "Scripts",
    "wer_corrected": "Recognition, corrected",
    "cer_corrected": "Recognition, corrected",
    "mer_corrected": "Recognition, corrected",
    "correction": "Correction",
    "n_best": "Lists of hypotheses",
    "scene": "Boards, {arm}",
    "scene_propagation": "Lost to mishearing",
    "judge_meaning": "Judge, {arm}",
    "judge_answer": "Judge, {arm}",
    "judge_meaning_replies": "Replies of the judge",
    "judge_answer_replies": "Replies of the judge",
}
"""The heading under which a family stands."""

PROFILES = {
    "nfc": "case and punctuation count as errors",
    "exact": "case, punctuation and Unicode form count as errors",
    "plain": "case and punctuation do not count",
    "spoken": "case, punctuation and how numbers are written do not count",
}
"""What a profile does not count as an error."""

SCRIPT_RATE = re.compile(r"(cer|wer|pier)_(?!mean)([a-z]{4})")
SCRIPT_SHARE = re.compile(r"([a-z]{4})_(precision|recall)")
TOKEN_CHANGE = re.compile(r"(?:token_change_([a-z]{4})|([a-z]{4})_token_change_rate)")
JUDGED = re.compile(r"judge_(meaning|answer)_(score|invalid_rate|flip_rate|mean_change|identical_rate)")
POINTS = ("score", "mean_change")
"""The ends of the names that are in points, from 0 to 100."""

DETAIL_SUFFIXES = (
    "_mean",
    "_bounded",
    "_substitution_rate",
    "_deletion_rate",
    "_insertion_rate",
    "_error_rate",
    "_character_rate",
)
DETAILS = (
    "baseline_quality",
    "arm_quality",
    "word_information_lost",
    "word_information_preserved",
    "burst_item_rate",
    "burst_loop_rate",
    "burst_novel_rate",
    "wer_compounds_joined",
    "labelled_connection_f1",
)
"""Metrics that only break another one down, as those with DETAIL_SUFFIXES do."""
NOT_BY_CONDITION = (
    "exact_match_rate",
    "abstention_rate",
    "improved_fraction",
    "response_agreement_f1",
    "correction_recall",
    "over_correction_rate",
    "changed_transcript_rate",
    "n_best_length",
    "label_precision",
    "label_recall",
    "connection_precision",
    "connection_recall",
    "undrawn_connection_rate",
    "connections_per_board",
    "refused_operations_per_board",
    "improved_board_fraction",
    "degraded_board_fraction",
)
"""Metrics that the blocks above the matrix show, and the matrix on a terminal does not."""
NOT_ATTRIBUTED = (
    "label_precision",
    "connection_precision",
    "undrawn_connection_rate",
    "entity_preservation_corrected",
    "entity_preservation_plan",
    "corrected_script_mismatch_rate",
)
"""Metrics whose losses are left to report.json: they measure a stage before the last."""
SCORES = (
    "response_quality",
    "quality_drop",
    "response_agreement_f1",
    "baseline_quality",
    "arm_quality",
    "label_f1",
    "connection_f1",
    "labelled_connection_f1",
    "label_f1_drop",
    "connection_f1_drop",
    "n_best_length",
    "shapes_per_board",
    "connections_per_board",
    "refused_operations_per_board",
)
"""Metrics that are no share of anything, and stand as they are."""
SHARE_SUFFIXES = ("_rate", "_fraction", "_mean")
SHARES = (
    "entity_preservation",
    "entity_preservation_corrected",
    "entity_preservation_plan",
    "entity_preservation_board",
    "label_precision",
    "label_recall",
    "connection_precision",
    "connection_recall",
    "correction_precision",
    "correction_recall",
    "n_best_recoverable",
)
"""Shares whose name does not end like that of one."""
RANGES = {
    "quality_drop": (-1.0, 1.0),
    "response_quality": (0.0, 1.0),
    "response_agreement_f1": (0.0, 1.0),
    **dict.fromkeys(SHARES, (0.0, 1.0)),
    **dict.fromkeys(("label_f1", "connection_f1", "labelled_connection_f1"), (0.0, 1.0)),
    "label_f1_drop": (-1.0, 1.0),
    "connection_f1_drop": (-1.0, 1.0),
}
"""The least and the greatest value, where the name does not say them."""
