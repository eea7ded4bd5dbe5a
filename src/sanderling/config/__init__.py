"""Settings, the settings file, and redaction of secrets."""
