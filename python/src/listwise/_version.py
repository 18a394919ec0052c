"""The version, that of the program; build.py sets it in wheels."""

__version__ = "0.0.0.dev0"
