"""The outside parts that the service needs, each a Protocol with its obligations in words.

Every implementation passes the port's contract suite under ``tests/contract``. Nothing here names
a library.
"""
