"""The version of the package and of the service that it was written with."""

VERSION = "0.1.0"
