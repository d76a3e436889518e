"""What people operate in the browser: panels, sliders, players, charts."""
