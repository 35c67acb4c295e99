"""From two snapshots to what is posted: pure, with GitHub's limits in the types."""
