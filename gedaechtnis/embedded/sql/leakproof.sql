-- Lets name search use its index under row-level security. Run as superuser inside the database; safe to repeat.
-- Optional: without it search asks the definer function, with the same results. Holds for this database only and is
-- in no dump. Both functions compare two texts and fail on no content, so nothing about a hidden row can leak.
ALTER FUNCTION similarity_op(text, text) LEAKPROOF;
ALTER FUNCTION word_similarity_commutator_op(text, text) LEAKPROOF;
