package model

// registry lists the models in the order of the help text. To add a model, write a file with its formula
// and add a line here.
var registry = []*Kind{
	newGCTR(),
	newRCTR(),
	newDCTR(),
	newPBM(),
	newCM(),
	newUBM(),
	newDCM(),
	newSDBN(),
	newDBN(),
	newCCM(),
}
