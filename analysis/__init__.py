"""What training code means and what is wrong with it: source, program, trace, findings and fixes. Pure: no I/O, no clock."""
