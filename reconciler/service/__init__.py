"""The memory's work with ports and the domain; no adapter is known here.

tasks         an agent at work                    recall.py       what is found again
sessions      the background door                 records.py      history and decisions, as kept
writing       the way of a write, and its cache   erasures.py     what is forgotten, and how
stores        alone name queries                  persons         what people decide and answer
"""
