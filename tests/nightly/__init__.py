"""What is run for minutes or hours and not before every commit: chance, load, and many programs.

Each is also a command, with options of its own: `python -m tests.nightly.soak`, `owners` and
`claims`.
"""
