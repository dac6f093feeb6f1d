-- What is around a thing is told along the core relations. Rows that were there before the flag was used; setup brings
-- new ones along with it.
UPDATE registry_predicate SET inference_enabled = true
WHERE source = 'core' AND key = ANY (ARRAY[
  'part_of', 'belongs_to', 'located_in', 'made_by', 'lives_in', 'works_at', 'born_in', 'parent_of', 'sibling_of',
  'partner_of', 'married_to', 'friend_of', 'knows', 'colleague_of', 'cares_for', 'owned_by', 'uses_device',
  'member_of', 'participates_in', 'assigned_to', 'blocked_by', 'depends_on']);
