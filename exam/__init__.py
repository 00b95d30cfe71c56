"""An exam for memory systems: told stories, asked questions, marked against what is true.

``python -m exam --help`` says how it is sat; ``README.md`` says how a system is added.
"""
