"""The page at ``/``: an operator keeps a memory right there, in a browser.

``app`` assembles it; ``visits`` holds the people who are logged in, and has the common parts of all
pages; ``views`` reads, ``acts`` settles and erases, with the same calls as the HTTP API. The folder
also has templates, ``words.toml``, one style sheet and one small script. No decision is made here,
and every page works without the script.
"""
