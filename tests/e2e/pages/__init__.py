"""The pages in a real browser: what a person sees, does with keyboard and mouse, and shares."""
