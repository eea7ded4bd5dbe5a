"""Operations on a collection: one module per subject, with the functions that the command line and the web app call."""
