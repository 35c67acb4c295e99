"""The trace domain: what calls from outside the repository mean for models, gradients, loaders and ranks."""
