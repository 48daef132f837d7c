"""Build the page before the package; everything else stands in pyproject.toml."""

import runpy
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py


class BuildWithPage(build_py):
    """Without Node or the npm registry the install still succeeds, and `taut view` says what is missing."""

    def run(self) -> None:
        if runpy.run_path("taut/view/build.py")["main"]() != 0:
            print("taut: installed without its page; taut view tells how to get it.", file=sys.stderr)
        super().run()


class WithCompiledCode(Distribution):
    """A wheel that carries compiled code (scripts/ship.py) is for one version of Python and one kind of machine."""

    def has_ext_modules(self) -> bool:
        return Path("taut/compiled/shipped").is_dir()


setup(cmdclass={"build_py": BuildWithPage}, distclass=WithCompiledCode)
