#!/bin/sh
# The first two minutes: render a counterfactual world, ask two small segmenters and the baselines,
# see the one misled by its habits and the other not, and read a report about it.
set -eu
gf="${BIN:-.venv/bin}/groundfault"
out="${OUT:-demo}"
n="${N:-240}" # edited pictures

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }

rm -rf "$out"
mkdir -p "$out"
models="--model nano-base --model nano-cft --model oracle --model blind --model always-yes --model random"

say "1. Render a small counterfactual world: exact edits, true masks"
"$gf" world build --preset cafe --n "$n" --controls --out "$out/edited"
"$gf" world build --preset halluseg --n "$((n / 3))" --out "$out/replaced"
"$gf" world sheet interventions --size 160 --out "$out/interventions.png"

say "2. Ask nano-base, nano-cft (the same model after counterfactual fine-tuning) and the baselines"
"$gf" eval "$out/edited" $models --out "$out/runs/edited" > "$out/edited.txt"
"$gf" eval "$out/replaced" $models --out "$out/runs/replaced" > "$out/replaced.txt"

say "3. Does a changed surface, context or material mislead them? (CAFE's protocol)"
"$gf" compare "$out"/runs/edited/* --brief --published --bootstrap 2000 \
  --row Overall --row SM --row CC --row OC --row control \
  --metric cgF1 --metric positive_micro_F1 --metric IL_MCC --metric IL-FPR --metric AFPR

say "4. Do they still see an object that was replaced? (HalluSegBench's protocol)"
"$gf" compare "$out"/runs/replaced/* --brief --published --bootstrap 2000 --row Overall \
  --metric dIoU_textual --metric dIoU_visual --metric CMS_fact --metric CMS_counterfact

say "5. One page about all of it"
"$gf" report "$out"/runs/edited/* "$out"/runs/replaced/* --out "$out/report.html"

say "Next"
echo "  open $out/report.html in a browser: it needs nothing else"
echo "  look at $out/interventions.png: each edit before, after, and its target"
echo "  $gf score cafe --annotations A.json --predictions P.json --out RUN   your own dump"
echo "  $gf world build --preset all --n 300 --out WORLD                    your own benchmark"
echo "  $gf inspect FILE                                                    what is this file?"
echo "  $gf list                                                            what there is"
