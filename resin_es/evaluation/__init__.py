"""Measuring retrieval: gold-sentence recall within an evidence budget, beside baselines."""
