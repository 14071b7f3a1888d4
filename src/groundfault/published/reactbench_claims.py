"""What should hold between the tables of ReactBench, and what the disagreements have in common."""

from __future__ import annotations

from groundfault.published.checking import Claim

DELTA = Claim(
    "ReactBench: Δ = CoT - Std",
    "Within Table 3.",
    "For InternVL3-8B in dense counting the two accuracies differ by -6.4; Table 3 prints -6.6, "
    "Table 10 prints +6.4.",
)
AVERAGE = Claim(
    "ReactBench: average of the four tasks",
    "Within Table 3.",
)
ACCURACY = Claim(
    "ReactBench: accuracy from the questions",
    "100 minus the mean hallucination rate over the questions of Tables 11-14; Q1a and Q1b of "
    "relational erasure are averaged into one question, as the caption of Table 11 says.",
    "All 24 of relational erasure (see the next claim), and three others.",
)
ACCURACY_13 = Claim(
    "ReactBench: erasure accuracy, thirteen columns",
    "The same for relational erasure with Q1a and Q1b as two questions.",
    "Qwen3VL-32B-Instruct without chain of thought.",
)
TYPES = Claim(
    "ReactBench: question types and dimensions from the questions",
    "Mean accuracy over the questions of a type or dimension, over all lines of Tables 11-14 "
    "(every model, both modes); the note gives the mean over the lines of one mode.",
    "No cell of Table 4 is the mean over all lines; over one mode, only short answer in "
    "counterfactual attribute without chain of thought fits.",
)
TYPES_VS_DIMENSIONS = Claim(
    "ReactBench: types and dimensions have the same mean",
    "Within Table 4: both split the same questions of a task, so their means, weighted by the "
    "number of questions, are equal; derived is the mean over the types.",
    "They differ in all four tasks of Table 4.",
)
SCORE = Claim(
    "ReactBench: React-Score by its formula",
    "`react_score`: half short answer, a quarter each multiple choice and yes/no; mean of the "
    "modes the model has; tasks weighted 0.3, 0.2, 0.2, 0.3; from Tables 11-14.",
    "The published scores are 3.7 to 9.7 points higher than what the formula gives from Tables "
    "11-14.",
)
SCORE_PLAIN = Claim(
    "ReactBench: React-Score from plain accuracies",
    "`react_score_plain`: the same weights of the tasks, but each question counts alike; from "
    "Tables 11-14.",
    "Plain accuracies come within 1.9 points of every published score, without reproducing one.",
)
SCORE_PLAIN_TABLE3 = Claim(
    "ReactBench: React-Score from the accuracies of Table 3",
    "As `react_score_plain`, from the accuracies that Table 3 prints.",
    "The scores of the two models without a Std accuracy are reproduced; the others are published "
    "0.5 to 2.3 points lower.",
)
CAUSE_SUM = Claim(
    "ReactBench: sub-cause counts add up",
    "Lines and columns of Tables 6-9.",
)
HUNDRED = Claim(
    "ReactBench: sub-cause shares add up to 100",
    "Table 5.",
)
CAUSE_SHARES_POOLED = Claim(
    "ReactBench: sub-cause shares from the pooled counts",
    "Table 5 from the totals over all models in Tables 6-9.",
    "The largest difference is 0.8 points.",
)
CAUSE_SHARES_MEAN = Claim(
    "ReactBench: sub-cause shares as the mean over models",
    "Table 5 from the shares of each model in Tables 6-9, each model counting alike.",
    "The largest difference is 1.5 points.",
)
CAUSE_TOTALS = Claim(
    "ReactBench: sub-cause totals = wrong CoT answers",
    "The sum of a model's CoT rates in Tables 11-14 (Q1a and Q1b as two questions) times the "
    "images of the task in Table 2; the note gives the number of images that would fit.",
    "The totals of Table 7 equal the rates of Table 12 at about 463 images for all models but one, "
    "where Table 2 gives 639; InternVL2.5-26B in Table 8 and Qwen3VL-4B in Table 9 have far fewer "
    "than their rates give; the others differ by less than 1.5 %.",
)
COT_EFFECT_TABLE3 = Claim(
    "ReactBench: CoT effect = -Δ of Table 3",
    "A rise of accuracy is a fall of the hallucination rate.",
    "InternVL3-8B in dense counting again: Table 10 agrees with the accuracies of Table 3, not "
    "with its Δ.",
)
COT_EFFECT = Claim(
    "ReactBench: CoT effect from the questions",
    "Mean rate with minus mean rate without chain of thought in Tables 11-14, Q1a and Q1b as one "
    "question.",
    "Ten of relational erasure (see the next claim); the other two have a counting accuracy that "
    "does not follow either.",
)
COT_EFFECT_13 = Claim(
    "ReactBench: erasure CoT effect, thirteen columns",
    "The same for relational erasure with Q1a and Q1b as two questions.",
    "Qwen3VL-32B-Instruct, as with its accuracy.",
)
COT_AVERAGE = Claim(
    "ReactBench: CoT effect averaged over the tasks",
    "Within Table 10.",
)
ATTAINABLE = Claim(
    "ReactBench: rates are whole numbers of images",
    "Each rate must be k of 639 (Table 12) or k of 913 (Table 13) images for a whole k; published "
    "is the number of rates in the line, derived how many of them are attainable, and the note "
    "lists the others. With the images of Tables 11 and 14 any rate is attainable.",
    "Every line of Table 12 has rates that no whole number of 639 images gives; 13 of the 24 lines "
    "of Table 13 have one to three such rates for 913 images.",
)
CLAIMS = (
    DELTA,
    AVERAGE,
    ACCURACY,
    ACCURACY_13,
    TYPES,
    TYPES_VS_DIMENSIONS,
    SCORE,
    SCORE_PLAIN,
    SCORE_PLAIN_TABLE3,
    HUNDRED,
    CAUSE_SHARES_POOLED,
    CAUSE_SHARES_MEAN,
    CAUSE_SUM,
    CAUSE_TOTALS,
    COT_EFFECT_TABLE3,
    COT_EFFECT,
    COT_EFFECT_13,
    COT_AVERAGE,
    ATTAINABLE,
)
