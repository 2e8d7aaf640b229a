"""Random questions about the rules of quotas and queues, and what of their answers is compared."""
