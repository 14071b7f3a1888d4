"""What `import groundfault` offers, and what the command line calls: one function per verb."""
