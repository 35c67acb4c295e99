"""The part of GitHub's GraphQL API that an App of this kind needs, answered from the same state as the REST API."""
