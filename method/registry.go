package method

// registry lists every method in the order of the help text: a new method is a
// file and a line here.
var registry = []*Method{
	newMLE(),
	newExpGain(),
	newL2(),
	newL3(),
	newConvexLoss(),
	newRankNet(),
	newLambdaRank(),
	newListNet(),
	newListMLE(),
	newRankCosine(),
	newBoltzRank1(),
	newBoltzRank2(),
	newApproxNDCG(),
	newSoftRank(),
	newXENDCG(),
	newLambdaLoss(),
	newRankSVM(),
	newSVMmap(),
	newRankBoost(),
	newAdaRank(),
	newFRank(),
	newRegression(),
	newMcRank(),
	newPRank(),
	newCoordinateAscent(),
	newSingleFeature(),
	newRandom(),
}
