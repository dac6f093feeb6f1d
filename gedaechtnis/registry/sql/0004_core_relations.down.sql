UPDATE registry_predicate SET inference_enabled = false WHERE source = 'core';
