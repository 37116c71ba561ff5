"""Tests of `toolassay/surfaces`."""
