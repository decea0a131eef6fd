"""Any classifier, trained on labels that were assessed before; without torch."""
