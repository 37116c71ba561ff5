"""Folders of earlier versions."""
