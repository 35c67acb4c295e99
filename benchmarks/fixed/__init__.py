"""Programs with one mistake each, and what their fix promises: PyTorch itself says whether the promise is kept."""
