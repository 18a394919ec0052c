package weigh

// Grade returns the grade of a pair with the given clicks and examinations.
func (o *Options) Grade(clicks, looked, predicted float64) float64 {
	return o.of(&sums{shown: 1, clicks: clicks, net: clicks, looked: looked, could: looked}, 1, predicted).grade
}
