"""Shipped fakes and contract suites, for the tests of this project and of others."""
