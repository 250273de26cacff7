"""Tabs for programs and browsers: what a tab shows as lines of JSON, which tabs ask for something, and a page.

A leaf: nothing imports it but the command line, late, where one of its verbs is run.

    frames   what a tab shows: a full frame, then what has changed
    asks     the tabs in which a program waits for a line or a password, and the command that is run when one begins to
    server   the page, over HTTP on this machine
"""
