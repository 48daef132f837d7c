"""One scene, every method: what each enforcement costs and how well it holds."""
