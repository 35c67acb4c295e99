"""``transformer_engine``: its parts."""
