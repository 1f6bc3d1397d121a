"""Plans carried out on blocks of which every byte is known."""
