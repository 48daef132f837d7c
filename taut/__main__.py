"""python -m taut"""

import sys

from .cli import main

sys.exit(main())
