"""The background door: hand-over, the worker, what is read, and formats of transcripts."""
