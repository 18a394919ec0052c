package ranking

// Inversions sets dst[i], for every document i of the query, to the number of inverted pairs that
// contain the document. For a good document, this is the number A_g of bads above it. For a bad
// document, it is the number B_b of goods below it. dst must have an element per document. Rankings
// with the same numbers are the same ranking.
func (o *Order) Inversions(dst []int32) {
	_ = dst[:len(o.docs)]
	for k := range o.Blocks() {
		c := o.cuts[k]
		docs, good := o.Block(k)
		n := int32(len(o.pairs.Good)) - c.goods
		if good {
			n = c.at - c.goods
		}
		for _, d := range docs {
			dst[d] = n
		}
	}
}

// FeatureMap sets dst to the coefficients of LogRank's partial-order feature map
// (section 1.7)
//
//	φ(y) = κ Σ_gb y_gb (x_g − x_b) = Σ_i dst[i]·x_i
//
// where x_i are the features of document i, and y_gb is +1 if good g is above bad b and −1
// otherwise. So dst[g] = κ(n⁻ − 2A_g) and dst[b] = κ(2B_b − n⁺). dst must have an element per
// document.
func (o *Order) FeatureMap(dst []float64, kappa float64) {
	o.coefficients(dst, -2*kappa, kappa)
}

// FeatureLoss sets dst to the coefficients of δφ(y) = φ(y*) − φ(y), where y* is the ideal ranking:
//
//	w·δφ(y) = 2κ (Σ_g A_g s_g − Σ_b B_b s_b) = Σ_i dst[i]·s_i
//
// for the scores s_i = w·x_i. dst must have an element per document.
func (o *Order) FeatureLoss(dst []float64, kappa float64) {
	o.coefficients(dst, 2*kappa, 0)
}

// coefficients sets dst[g] = scale·A_g + ideal·n⁻ for good documents and dst[b] = −scale·B_b −
// ideal·n⁺ for bad documents.
func (o *Order) coefficients(dst []float64, scale, ideal float64) {
	_ = dst[:len(o.docs)]
	good, bad := len(o.pairs.Good), len(o.pairs.Bad)
	for k := range o.Blocks() {
		c := o.cuts[k]
		docs, isGood := o.Block(k)
		v := float64(-scale*float64(good-int(c.goods))) - float64(ideal*float64(good))
		if isGood {
			v = float64(scale*float64(c.at-c.goods)) + float64(ideal*float64(bad))
		}
		for _, d := range docs {
			dst[d] = v
		}
	}
}
