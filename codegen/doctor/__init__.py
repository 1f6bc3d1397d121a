"""What of all that xiokv may need is on this machine, a finding each, with what to do."""
