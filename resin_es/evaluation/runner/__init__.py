"""A run: every question, every row, every budget; resumable; findings as they come."""
