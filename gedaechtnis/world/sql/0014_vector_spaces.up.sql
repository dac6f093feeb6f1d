-- The index over the bundled model's vectors, under the name that memory/spaces.py gives it; those of other models are
-- made by `embeddings switch`. Vectors differ in length, so each model has an index of its own.
CREATE INDEX projection_vectors_near_720db9b9 ON projection_vectors
  USING hnsw ((vector::halfvec(512)) halfvec_cosine_ops) WHERE model = 'use-multilingual-3';
