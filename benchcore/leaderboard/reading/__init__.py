"""Reading leaderboards: files, folders of results, registries and data sets that ship."""
