"""Who acts: users (with a `sub` we make ourselves), orgs, groups with roles, tokens, principals."""
