"""Other libraries' signatures on top of this one, so that a script changes one import."""
