package explain

// The two passes over a tree's edges, in which all time goes: four numbers at a time.

// one is the product of no factors.
var one = chunk{1, 1, 1, 1}

// goDown finds the products of all edges' paths, and what the leaves add at every node of the
// rule.
func (t *pathTree) goDown(m *pathMemory) {
	n, edges := t.chunks, t.edges
	passed, weights := m.passed[:len(edges)], t.weights[:n]
	for i := range edges {
		e := &edges[i]
		open := e.before < 0 || passed[e.before]
		passed[i] = open && m.left[e.node] == e.left
		table := t.failed
		if passed[i] {
			table = t.passed
		}
		factors, down, up := table[i*n:(i+1)*n], m.down[i*n:(i+1)*n], m.up[i*n:(i+1)*n]
		for c := range down {
			above, d := &one, &down[c]
			if e.parent >= 0 {
				above = &m.down[int(e.parent)*n+c]
			}
			if open {
				f := &factors[c]
				*d = chunk{above[0] * f[0], above[1] * f[1], above[2] * f[2], above[3] * f[3]}
			} else {
				*d = chunk{above[0] * e.step, above[1] * e.step, above[2] * e.step, above[3] * e.step}
			}
			if e.leaf {
				v, w := e.value, &weights[c]
				up[c] = chunk{v * d[0] * w[0], v * d[1] * w[1], v * d[2] * w[2], v * d[3] * w[3]}
			} else {
				up[c] = chunk{}
			}
		}
	}
}

// goUp adds what each edge gives its feature to dst: (o − r) times the integral over what is
// below, without its own factor, less that of the edge before by the same feature.
func (t *pathTree) goUp(dst []float64, m *pathMemory) {
	n, edges := t.chunks, t.edges
	for i := len(edges) - 1; i >= 0; i-- {
		e, up := &edges[i], m.up[i*n:(i+1)*n]
		if e.parent >= 0 {
			parent := m.up[int(e.parent)*n : (int(e.parent)+1)*n]
			for c := range up {
				p, u := &parent[c], &up[c]
				p[0] += u[0]
				p[1] += u[1]
				p[2] += u[2]
				p[3] += u[3]
			}
		}
		var gain float64
		switch {
		case m.passed[i]:
			gain = (1 - e.share) * product(up, t.divisor[i*n:(i+1)*n])
		case e.before >= 0 && !m.passed[e.before]:
			continue // the feature had failed before
		default: // the factor is r(1−t)
			gain = -product(up, t.rest)
		}
		if e.before >= 0 {
			before := int(e.before)
			gain -= float64((1 - edges[before].share) * product(up, t.divisor[before*n:(before+1)*n]))
		}
		dst[e.feature] += gain
	}
}

// product returns the inner product of two lists of chunks.
func product(a, b []chunk) float64 {
	b = b[:len(a)]
	var s chunk
	for c := range a {
		x, y := &a[c], &b[c]
		s[0] += float64(x[0] * y[0])
		s[1] += float64(x[1] * y[1])
		s[2] += float64(x[2] * y[2])
		s[3] += float64(x[3] * y[3])
	}
	return (s[0] + s[1]) + (s[2] + s[3])
}
