"""The change detector: classifies how two versions of a page differ.

fingerprints -> `fingerprint_diff` (facts) -> `classify` (kinds, significance; noise from `noise_model` left out)
bodies       -> `word_report` (word by word) -> `render`
stored changes (`change_store`) -> `change_query` -> `feed`, `alerts`
"""
