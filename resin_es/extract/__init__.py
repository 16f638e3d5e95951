"""Documents to sentences, passages and units. Pure: what a model must do comes in as a Reader."""
