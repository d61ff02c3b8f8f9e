"""A bridge from playheadd to MPRIS, the D-Bus interface of media players."""

__version__ = "0.1.0"
