"""The write gate's rules: which candidates earn their place. Pure: no graph, model or clock."""
