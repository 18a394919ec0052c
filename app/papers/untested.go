package papers

// untested is a claim that no experiment tests.
type untested struct{ section, claim, reason string }

// notTested lists the untested claims by paper. With them, the page of verdicts has a row for every
// claim of a paper.
var notTested = map[string][]untested{
	"LogRank": {
		{"abstract and 4", "the Monte Carlo sampler is new and efficient, and serves a quasi-Newton optimiser", "novelty, and no time is given; that L-BFGS needs rankings drawn once has a line in section 4"},
		{"1.2", "y is a boolean vector indexed by good–bad pairs", "definition"},
		{"1.3 and 1.4", "conditional probabilistic models are a promising alternative; the log-linear form allows closed forms and effective sampling", "a motivation; closed forms have lines in section 2.3"},
		{"1.4", "the approach is evaluated on all seven LETOR data sets (575 queries, 5.1.1)", "about the paper's own runs; six of the sets are not here"},
		{"1.4", "BoltzRank leads to non-convex optimisations, while the best performer is a convex learner", "about another system; ConvexLoss has a line in section 3"},
		{"1.5", "to minimise the expected loss is to maximise an expected gain", "definition: G = 1 − Δ"},
		{"1.6.1", "AUC is the share of satisfied pairs, closely related to the area under the ROC curve", "definition"},
		{"1.6.1", "a flip of ranks 2 and 11 is vastly more serious than one of ranks 100 and 150", "a motivation; no measurement is given"},
		{"1.6.3", "the discount is 1 at the first two ranks and 1/log2(1 + i) from then on, to rank k", "definition"},
		{"2", "Z_q is not easy to compute for an arbitrary φ (6: the partition function is tricky)", "no method can show that there is none; Z_q of φ_po has a line in section 2.3"},
		{"2.3", "for NDCG and MAP a simple and efficient closed form is not possible", "simple and efficient are not defined; E[G] of both over all labelings has an exact form here, in cubic time, ConvexLoss only for single relevant documents"},
		{"3", "the term ‖w‖²/C keeps the objectives well-posed", "definition; every training here has it"},
		{"3", "MLE does not exploit information from Δ, and L_2 optimises the measures directly", "definition of (10) and (11); their accuracy has lines in section 5.2"},
		{"3", "L_3 might further boost the performance", "a possibility; its accuracy has a line in section 5.2.3"},
		{"4", "direct sampling from Pr(y|x) is infeasible", "no method can show that there is none"},
		{"4.1", "the gain is vanishingly small for all but few y", "a motivation; E[Δ] near 1 at w = 0 has lines in section 2.1"},
		{"4.1", "once w fits, rankings of high quality are much more probable; restarts at several Pr amount to several Δ", "a motivation; w·φ and Δ have lines in section 5.3.4"},
		{"4.2", "a flip changes Δ much where a bad document is near the worst place and a good one near the best, and little by the rules of Figure 2", "a motivation of θ; its effect has a line in this section"},
		{"4.2", "both strategies together should collect a reasonable sample", "an expectation; reasonable is not defined"},
		{"Figure 2", "a flipped bit with the probability θ, checked for a valid ranking", "definition; its effect has a line in section 4.2"},
		{"5.1", "five folds, C tuned, bad documents removed, microaverages weighted by queries; BoltzRank and ListNet were run on unclean data", "definitions of the paper's protocol"},
		{"5.2.1", "there is nothing too special about MLE's w, as MLE makes no use of Δ", "an opinion; MLE has lines in sections 5.2.1 to 5.2.3"},
		{"5.3.3", "a skew toward Δ = 0 is the best policy, though an even mix had been anticipated: great and good rankings may serve better than bad ones", "an explanation; the mix and the skew have lines in section 5.3.2"},
		{"5.3.4", "the study explains how accuracy depends on sampling and gives a clear recipe", "an opinion; what it rests on has lines in sections 5.3.1 to 5.3.4"},
		{"6 (abstract, 1.5, 2.3, 3)", "the new approach is simple, and shows significant accuracy gains over existing algorithms, the convex formulation more than the expected gain", "a summary; the gains have lines in section 5.2"},
	},
	"BoltzRank": {
		{"slide 4", "dNDCG/df is not smooth, which makes learning by gradients hard", "a motivation; that NDCG is flat or jumps has a line under LambdaRank, section 1"},
		{"slide 6", "earlier methods have no NDCG in the objective and no interactions of higher order", "about related work"},
		{"slide 8", "ϕ(d_j, d_k) enforces learned second-order constraints at inference", "definition; its effect on accuracy has lines"},
		{"slide 9", "E(R|S) is the lack of compatibility between R and S", "definition"},
		{"slides 10 and 14", "the sum over rank assignments is intractable, and sampling from the model too expensive", "a motivation; no time is given"},
		{"slide 12", "the gradients by f are smooth, so that gradient ascent is straightforward", "by construction: the objective is a finite sum of exponentials of f"},
		{"slide 15", "OHSUMED has 106 queries with 16104 pairs, TD2004 75 queries with 75000 pairs, 1116 of them relevant", "counts of the authors' copies; the page of all experiments gives ours"},
		{"slide 18", "an estimate of the law of rankings permits objectives of permutations", "a summary; expected NDCG and MAP have lines"},
	},
	"ListMLE": {
		{"slide 8", "the empirical 0–1 loss is not differentiable by g", "a motivation; costs of sorted scores have a line under LambdaRank, section 1"},
		{"slide 9", "RankCosine and ListNet fit the framework of surrogate losses", "definition"},
		{"slide 22", "the likelihood loss seems the best in theory and in practice", "a summary; its parts have lines"},
	},
	"LambdaRank": {
		{"1", "a mismatch between target and optimisation cost has a substantial adverse impact", "a motivation; no measurement is given"},
		{"1 and 4", "smoothed costs are challenging to design, rules for λ easier to specify, and LambdaRank is very simple", "opinions"},
		{"2", "for two classes the pair-wise correct is the AUC; N_i makes NDCG of a perfect order 1", "definitions"},
		{"4", "a contribution to a document's λ has an equal and opposite one; linear λ are springs", "definitions; sums of λ and springs have lines in this section"},
		{"5", "training time is linear in the queries", "by construction: an epoch visits each query once"},
		{"5", "the sums of (6) and (7) give the gradient of the single pairs", "an identity: the product rule; V2's learning is shown by `reproduce ranknet-speedup`"},
		{"5", "the sum by document serves any method that descends a gradient and whose cost depends on pairs (7: a general approach)", "a generality; RankNet has lines in section 6.1"},
		{"5, footnote 3", "activations may be stored and exponentials computed once a document", "definition; its times stand beside V2's slope"},
		{"6.2", "ten λ functions were tried; (8) and (9) follow from RankNet's cost", "definitions; those of the ten that the paper names have a line in this section"},
		{"7", "boosted trees are an interesting start", "a proposal; trees are among the classes of section 7's line"},
	},
}

// untestedLines returns a paper's untested claims as rows of the page.
func untestedLines(paper string) []heldLine {
	var lines []heldLine
	for _, c := range notTested[paper] {
		lines = append(lines, heldLine{Finding: Finding{Section: c.section, Claim: c.claim, Verdict: ClaimNotTested, Figure: c.reason}})
	}
	return lines
}
