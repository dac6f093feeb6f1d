"""The row-level-security door: who sees and writes which rows, decided by the database."""
