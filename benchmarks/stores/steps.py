"""What each maker reads: the steps that were told, and the folder of its store."""

import json
import sys
from pathlib import Path

STEPS = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
FOLDER = Path(sys.argv[2])
