"""For the tests of programs that use terminals: fixtures for pytest (plugin.py)."""
