"""Load the fixtures `terminals` and `tab`."""

pytest_plugins = ["muxwire.testing.plugin"]
