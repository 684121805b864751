"""Seconds and memory: each benchmark times us and our peers in turns, on the same data and threads."""
