"""Random orders of events, faults and kills, played against the bot, and what must hold afterwards whatever they were."""
