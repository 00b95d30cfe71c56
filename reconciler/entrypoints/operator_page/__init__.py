"""The page at ``/``: for the person who keeps a memory right, in a browser.

``app`` puts it together; ``sessions`` are the people who are logged in; ``visits`` is what all
pages share; ``views`` reads and ``acts`` settles, each by the same calls as the HTTP API. Beside
them lie templates, one style sheet and one small script. Nothing is decided here, and every page
works without the script.
"""
