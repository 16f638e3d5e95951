"""Claude, or whatever speaks its Messages API, by the ``anthropic`` SDK (extra ``anthropic``).

``requests`` builds bodies and ``replies`` reads messages, both pure; ``connection`` holds the SDK's
client and ``errors`` translates what it raises; ``client`` joins them to the port. The SDK is
imported when the first request goes out.
"""
