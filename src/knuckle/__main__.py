"""`python -m knuckle` is the command `knuckle`."""

from .cli import main

if __name__ == "__main__":
    main()
