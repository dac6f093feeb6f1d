"""Projections: the texts that search finds, made from memory after each commit, and their indexes.

`facts`, `cards` and `episodes` say what is found; `projections` stores it, `index` counts and posts its words, and
`vectors` gives it a place in meaning. Made again, everything is the same.
"""
