DROP INDEX IF EXISTS projection_vectors_near_720db9b9;
