"""Readers and writers of files: every reader checks what it reads and names file and place when it is wrong."""
