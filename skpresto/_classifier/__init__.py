"""What all classifiers share: parameters, checks, fit and predict."""
