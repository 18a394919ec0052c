package method

// redraw is a hyperparameter of the methods whose loss draws random numbers; when
// says of which settings that is true.
func redraw(what, when string) Hyperparameter {
	return Hyperparameter{Name: "redraw", Kind: Switch, Default: "false", Doc: "draw " + what + " again for every epoch of descent or every tree, not once" + when}
}

// redrawAnew is redraw where it is the default, as in the papers.
func redrawAnew(what, when string) Hyperparameter {
	h := redraw(what, when)
	h.Default = "true"
	return h
}

// redraws reports whether the loss is to draw anew in every epoch, or for every tree.
func (p *Problem) redraws() bool {
	_, err := p.Values.method.hyperparameter("redraw")
	return err == nil && p.Values.Bool("redraw")
}
