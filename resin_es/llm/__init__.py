"""A language model at its five places: pure requests and readings, and the stages made of them.

``*_call`` functions build a :class:`~resin_es.ports.ModelCall`, ``*_from`` functions read what
came back; ``reader``, ``planner``, ``composer`` and ``solver`` join them to the ports of the
stages. Nothing here sends anything.
"""
