"""Observing a program: profiles, the debugger, advice, progress bars."""
