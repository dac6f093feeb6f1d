"""Building blocks that know nothing of the layers above: clock, ids, text, instants, problems."""
