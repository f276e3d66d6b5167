"""The migrations, ordered by number; never change a released one."""
