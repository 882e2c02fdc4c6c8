"""Models that label every node of a tree: sentiment, or what else labels mean."""
