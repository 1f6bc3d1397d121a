"""Store stamped blocks on a controller, retrieve them, and hold every byte to its stamp."""
