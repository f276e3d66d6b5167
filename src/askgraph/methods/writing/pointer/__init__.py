"""The pointer writer: small trained weights that write a query piece by piece."""
