"""Background work by Celery: application, tasks, timetable, liveness, logs, metrics.

Nothing is connected at import; what a task uses is made in the process that runs it.
"""
