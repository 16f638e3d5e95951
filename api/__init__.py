"""FastAPI application, routes and page."""
