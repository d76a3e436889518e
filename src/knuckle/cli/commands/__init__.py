"""The commands of `knuckle`."""
