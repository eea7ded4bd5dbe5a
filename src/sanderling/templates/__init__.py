"""Page templates of a site, and pages similar to a sample."""
