"""What the service needs from the outside, each as a Protocol with its obligations in words.

Every implementation passes the port's contract suite under ``tests/contract``. Nothing here names
a library.
"""
