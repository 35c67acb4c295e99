"""Pages for people: a pull request's conversation, checks and files, looking the way GitHub shows them."""
