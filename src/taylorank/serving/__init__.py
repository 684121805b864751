"""[serve] Saved models behind HTTP: recommendations, search, similar items, reload without a pause."""
