"""From a structural change that a rule asks for to a patch that was applied, parsed and analysed again."""
