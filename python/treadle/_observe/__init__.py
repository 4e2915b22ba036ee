"""Watching a program: profiles, the debugger, progress."""
