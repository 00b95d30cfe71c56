"""The page at ``/``: for the person who keeps a memory right, in a browser.

``app`` assembles it; ``visits`` holds the people who are logged in, and has the common parts of all
pages; ``views`` reads, ``acts`` settles and erases, with the same calls as the HTTP API. Beside
them are templates, ``words.toml``, one style sheet and one small script. Nothing is decided here,
and every page works without the script.
"""
