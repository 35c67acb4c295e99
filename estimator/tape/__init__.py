"""The tape: an imaginary PyTorch that runs shapes and storages only, and logs when each storage is born and dies."""
