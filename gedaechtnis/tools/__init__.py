"""What agents may ask of the memory and propose to it: one implementation behind every door."""
