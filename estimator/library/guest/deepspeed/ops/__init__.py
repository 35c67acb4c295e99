"""DeepSpeed's own operations."""
