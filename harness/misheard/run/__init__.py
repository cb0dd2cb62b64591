"""Running a system over a suite: batch plan, journal, scheduler, run directory."""
