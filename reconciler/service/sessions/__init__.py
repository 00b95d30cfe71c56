"""The background door: hand-over, the worker, reading sessions, and formats of transcripts."""
