"""Settings: flag = TOML key = environment variable, one name for all three; read once."""
