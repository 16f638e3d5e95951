"""Keeping an existing index's documents fresh: what changed, what is to be done, what was left.

The registry is the durable truth. Tasks carry ids only; whatever the queue loses, ``reconcile``
finds in the registry again. Nothing here knows Celery, Redis or Elasticsearch.
"""
