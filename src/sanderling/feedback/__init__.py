"""What users teach: Apriori, page weights, briefs for specialised migrants."""
