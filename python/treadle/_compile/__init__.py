"""Compiled Python functions: finding their source, the types of their arguments, and the decorators that compile them.
"""
