#!/bin/sh
# The first two minutes: a rendered world asked of the baselines; two imagined models on a
# CAFE-like set, scored, compared, swept.
set -eu
gf="${BIN:-.venv/bin}/groundfault"
out="${OUT:-demo}"

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }

rm -rf "$out/world" "$out/quads" "$out/baselines"
say "1. Render a small counterfactual world: exact edits, true masks"
"$gf" world build --preset cafe --n 90 --out "$out/world"
"$gf" world build --preset halluseg --n 30 --out "$out/quads"
"$gf" world sheet interventions --size 160 --out "$out/interventions.png"

say "2. What knowing everything, nothing, or nothing but habit scores on it"
"$gf" eval "$out/world" --model oracle --model blind --model always-yes --model random \
  --metric cgF1 --metric IL_MCC --metric IL-FPR --metric AFPR --out "$out/baselines"

say "3. Make a small example: 300 edited images, two imagined models"
"$gf" example "$out/data"

for model in gullible careful; do
  say "4. Score the $model model"
  "$gf" score cafe --annotations "$out/data/annotations.json" \
    --predictions "$out/data/$model.json" --out "$out/runs/$model"
done

say "5. Is the careful one really better? Paired tests on the same cases"
"$gf" compare "$out/runs/gullible" "$out/runs/careful" --row Overall \
  --metric cgF1 --metric AFPR --metric positive_micro_F1

say "6. Does it depend on the thresholds?"
"$gf" sweep cafe --annotations "$out/data/annotations.json" \
  --predictions "$out/data/gullible.json" --t 0.1:0.9:0.2 --tau 0.3:0.9:0.2 --out "$out/runs/gullible"

say "7. One page about all of it"
"$gf" report "$out"/baselines/* "$out"/runs/* --out "$out/report.html"

say "Next"
echo "  open $out/report.html in a browser: it needs nothing else"
echo "  look at $out/interventions.png: each edit before, after, and its target"
echo "  $gf score cafe --annotations A.json --predictions P.json --out RUN   your own dump"
echo "  $gf inspect FILE                                                    what is this file?"
echo "  $gf list                                                            what there is"
