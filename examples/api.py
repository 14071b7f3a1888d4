"""Every function of `import groundfault as gf`, once. A section is an example of the reference, and
all are run by tests/test_api_examples.py, in this order, in a folder where these were run before:

    groundfault world build --preset cafe --n 4 --size 128 --controls --out edited
    groundfault world build --preset reactbench --n 4 --out exam
    groundfault world build --preset clean --n 4 --out scenes
    groundfault convert scenes --to coco --out instances.json
    groundfault example example
"""

# ruff: noqa: B018, E402 - a notebook in a file

import groundfault as gf

# %% load
bench = gf.load("edited")  # a folder of ours
bench.card.title, len(bench.cases), bench.items[0].query
cafe = gf.load("cafe", annotations="example/annotations.json")  # a published format

# %% evaluate
run = gf.evaluate(bench, "nano-base", out="runs/nano-base", bootstrap=200)
run.table()
run.summary.rows["Overall"].metrics["IL-FPR"].value
second = gf.evaluate("edited", "always-yes", out="runs/always-yes", bootstrap=200)

# %% open_run
again = gf.open_run("runs/nano-base")
again.check("IL-FPR>50%")  # whether a condition holds
again.show(bench.cases[0].id)  # in a notebook: the pictures with masks

# %% as_prediction
import numpy as np

mask = np.zeros((128, 128), bool)
mask[20:60, 30:80] = True
one = gf.as_prediction([mask], [0.9])  # one mask, its score
none = gf.as_prediction([], [])  # "it is not there"


# %% check_model
class Mine:
    def segment(self, image, phrases):
        bright = image.mean(axis=2) > 128
        return [gf.as_prediction([bright], [0.9]) for _ in phrases]


for finding in gf.check_model(Mine()):
    print(finding.rule, finding.state)

# %% score
scored = gf.score(
    "cafe",
    annotations="example/annotations.json",
    predictions="example/careful.json",
    bootstrap=200,
    out="runs/careful",
)
scored.summary.rows["SM"].metrics["AFPR"]

# %% sweep
swept = gf.sweep(
    "cafe",
    annotations="example/annotations.json",
    predictions="example/careful.json",
    t=[0.3, 0.5, 0.7],
)
[(point.t, point.metrics["AFPR"].value) for point in swept.points if point.row == "Overall"]

# %% compare
compared = gf.compare("runs/nano-base", "runs/always-yes", metrics=["IL-FPR"], bootstrap=200)
compared.table()
compared.tests()

# %% calibrate
chosen = gf.calibrate("nano-base", "edited", "calibration", bootstrap=0)
chosen.t

# %% report
page = gf.report(["runs/nano-base", "runs/always-yes"], "report.html")

# %% leaderboard
gf.leaderboard(["runs/nano-base"], "board", title="Ours", by="me")

# %% explore
exploring = gf.explore(["runs/nano-base", "runs/always-yes"], browser=False)
exploring.url
exploring.close()

# %% status
[(each.run, each.state) for each in gf.status("runs")]

# %% audit
found = gf.audit(
    "edited/images",
    {"exclusive": [["dog", "cat"]], "absent": ["zebra"]},
    "nano-base",
    "audit",
    counterfactuals=0,
    bootstrap=200,
)
found.table()
found.check("absent_accepted>5%")

# %% propose_phrases
phrases = gf.propose_phrases("phrases.toml", things=["person", "helmet"])
phrases.exclusive

# %% build_pairs
pairs = gf.build_pairs("instances.json", "pairs", images="scenes/images", n=3)
pairs.items[0].query, pairs.items[1].query

# %% build
from pathlib import Path

Path("recipe.toml").write_text(
    'benchmark = "cafe"\n[source]\nannotations = "instances.json"\nimages = "scenes/images"\n'
)
built = gf.build("recipe.toml", "my-set", until="propose")  # without `until`: to the release
[(stage.name, stage.kept) for stage in built.funnel.stages]

# %% judge
gf.evaluate("exam", "oracle", out="exams/oracle", mode="std", bootstrap=0)


class Strict:
    def judge(self, question, answer, rubric):
        return False  # or True, or None where it cannot tell


judged = gf.judge("exams/oracle", judge=Strict(), bootstrap=0)
judged["oracle"].run.judged.name

# %% judge_card
card = gf.judge_card("exam", n_labels=12)  # labels made from the exam's facts
card.tasks["Overall"].agreement

# %% reader_card
Path("labels.jsonl").write_text('{"kind": "yes_no", "text": "Yes, there is.", "value": true}\n')
gf.reader_card("labels.jsonl").rules["Overall"].as_meant

# %% parse_answer
gf.parse_answer("(b)", "choice", options=("red", "blue")).value  # 'B'
gf.parse_answer("I can't view images.", "number").why  # 'a refusal'

# %% train needs peft
trained = gf.train("recipes/robustseg/world.toml", "trained")  # a GPU, or patience
gf.evaluate("edited", trained, out="runs/trained")

# %% to_supervision needs supervision
gf.to_supervision(one, t=0.5).mask.shape

# %% to_datasets needs datasets
gf.to_datasets(bench)[0]["query"]

# %% to_fiftyone needs fiftyone
gf.to_fiftyone(run, name="nano-base")

# %% log_run needs mlflow
gf.log_run(run, "mlflow")  # into the active run
