"""Writes: one function a thing that can happen, keyword-only, atomic. Import from the module you need."""
