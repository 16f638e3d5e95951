"""Units, sentences and passages into the store: ids, records, filters, commit and purge."""
