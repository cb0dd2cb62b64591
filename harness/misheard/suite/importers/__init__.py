"""Suites made of what other tools wrote: manifests, data folders, datasets, cuts.

To add a format, write a module with a function `read(path, request) -> Found` and add a line to
`misheard.suite.importers.formats`.
"""
