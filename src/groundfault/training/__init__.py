"""Training. Checkpoints come back as just another model."""
