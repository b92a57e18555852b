"""Reads: one function a question. Import from the module you need."""
