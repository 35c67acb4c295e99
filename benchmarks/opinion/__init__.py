"""A second opinion on the bot's requests: every one that its tests send, judged by programs that know nothing of the simulator."""
