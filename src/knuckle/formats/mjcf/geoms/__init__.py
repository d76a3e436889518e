"""MuJoCo's geoms: what they look like, and how they touch."""
