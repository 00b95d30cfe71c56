"""The page at ``/``: for the person who keeps a memory right, in a browser.

``app`` puts it together; ``logins`` are the people who are logged in; ``visits`` is what all pages
share; ``views`` reads, ``acts`` settles and ``erasing`` erases, by the same calls as the HTTP API.
Beside them lie templates, one style sheet and one small script. Nothing is decided here, and every
page works without the script.
"""
