"""`python -m knuckle` is the command `knuckle`."""

from knuckle.cli import main

if __name__ == "__main__":
    main()
