"""The first example of a property compiles its kernels, which says nothing about how long one takes."""

from hypothesis import settings

settings.register_profile("compiled", deadline=None)
settings.load_profile("compiled")
