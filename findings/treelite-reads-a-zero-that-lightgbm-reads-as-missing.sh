#!/usr/bin/env bash
# treelite 4.8.1, with lightgbm 4.7.0.
#
# Most engineers expect that a LightGBM model that treelite loads gives the same
# predictions there, or that it is not loaded.
#
# Seen: a model that was trained with zero_as_missing is loaded without a word,
# but the setting is lost: a 0 and a missing value go the way of a number near 0,
# not of what is missing, and get another prediction, here 1 for 40. Without the
# setting both agree on each row.
#
# Why it matters: with sparse data, where 0 stands for not known, most values are
# zeros, and the service answers otherwise than the model that was tested.
set -euo pipefail

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
cd "$dir"

python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check \
    'treelite==4.8.1' 'lightgbm==4.7.0'

cat > check.py <<'PY'
import warnings

import lightgbm
import numpy as np
import treelite

warnings.simplefilter("ignore")
known = np.arange(-5.0, 6.0)
missing = np.full(4, np.nan)
rows = np.append(known, missing).reshape(-1, 1)
targets = np.append(known**2, np.full(4, 50.0))
asked = np.array([[-2.0], [-1.0], [0.0], [np.nan], [1.0], [2.0]])
for is_set in (False, True):
    settings = {
        "objective": "regression",
        "zero_as_missing": is_set,
        "learning_rate": 1.0,
        "boost_from_average": False,
        "min_data_in_leaf": 1,
        "min_data_in_bin": 1,
        "min_sum_hessian_in_leaf": 0,
        "num_leaves": 31,
        "num_threads": 1,
        "deterministic": True,
        "force_col_wise": True,
        "verbose": -1,
    }
    model = lightgbm.train(settings, lightgbm.Dataset(rows, targets), 1)
    loaded = treelite.frontend.from_lightgbm(model)
    theirs = treelite.gtil.predict(loaded, asked).reshape(-1)
    print("zero_as_missing", is_set)
    for row, first, second in zip(asked[:, 0], model.predict(asked), theirs, strict=True):
        print(f"  {row:4} -> lightgbm {first:.1f} treelite {second:.1f}")
PY

cat > expected.txt <<'TXT'
zero_as_missing False
  -2.0 -> lightgbm 4.0 treelite 4.0
  -1.0 -> lightgbm 1.0 treelite 1.0
   0.0 -> lightgbm 0.0 treelite 0.0
   nan -> lightgbm 50.0 treelite 50.0
   1.0 -> lightgbm 1.0 treelite 1.0
   2.0 -> lightgbm 4.0 treelite 4.0
zero_as_missing True
  -2.0 -> lightgbm 4.0 treelite 4.0
  -1.0 -> lightgbm 1.0 treelite 1.0
   0.0 -> lightgbm 40.0 treelite 1.0
   nan -> lightgbm 40.0 treelite 1.0
   1.0 -> lightgbm 1.0 treelite 1.0
   2.0 -> lightgbm 4.0 treelite 4.0
TXT

venv/bin/python -I check.py > seen.txt 2> errors.txt || cat errors.txt >> seen.txt
cat seen.txt
if diff -u expected.txt seen.txt > difference.txt; then
    echo "As described."
else
    cat difference.txt
    echo "This has changed: the output is not the one described above."
    exit 1
fi
