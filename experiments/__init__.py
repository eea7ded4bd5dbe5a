"""The published tables again: one file per table, ours beside theirs.

A module has TITLE and `table()`; its name is the name of the experiment. `python -m experiments list|NAME|all`, or
`sanderling experiment`, or `make tables`: it fails when a number leaves its tolerance. Loosening one is a commit of
its own.
Papers: IPC Yadav 2012, SAR Sharma 2008, MIG Deepika 2017, DPS Kumar 2014, GPC Thangaraj 2016 (docs/papers.md).
"""
