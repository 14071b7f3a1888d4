#!/bin/sh
# The first two minutes: two imagined models on a small CAFE-like set, scored, compared, swept.
set -eu
gf="${BIN:-.venv/bin}/groundfault"
out="${OUT:-demo}"

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }

say "1. Make a small example: 300 edited images, two imagined models"
"$gf" example "$out/data"

for model in gullible careful; do
  say "2. Score the $model model"
  "$gf" score cafe --annotations "$out/data/annotations.json" \
    --predictions "$out/data/$model.json" --out "$out/runs/$model"
done

say "3. Is the careful one really better? Paired tests on the same cases"
"$gf" compare "$out/runs/gullible" "$out/runs/careful" --row Overall \
  --metric cgF1 --metric AFPR --metric positive_micro_F1

say "4. Does it depend on the thresholds?"
"$gf" sweep cafe --annotations "$out/data/annotations.json" \
  --predictions "$out/data/gullible.json" --t 0.1:0.9:0.2 --tau 0.3:0.9:0.2 --out "$out/runs/gullible"

say "Next"
echo "  $gf score cafe --annotations A.json --predictions P.json --out RUN   your own dump"
echo "  $gf inspect FILE                                                    what is this file?"
echo "  $gf list                                                            what there is"
