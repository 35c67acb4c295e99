"""A training script on the tape: the interpreter runs it concretely, and what arrives at the model is what it was configured to do."""
