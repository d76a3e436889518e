"""Steps of joints and nodes of deformable bodies in one system."""
