"""Compiled loops: pure functions on contiguous arrays, each with a plain twin that tests compare it with."""
