"""What agents share in a workspace: domains, policies, notes of their own, and what they are told before a run."""
