package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

const style = `.lw-plot{color:` + textColor + `;font-family:system-ui,sans-serif}
.lw-plot text{fill:currentColor}
.lw-back{fill:#fff}
.lw-axis{stroke:currentColor;fill:none}
.lw-grid{stroke:currentColor;stroke-opacity:.13;fill:none}
.lw-line{stroke:currentColor;stroke-width:1.8;fill:none;stroke-linejoin:round}
.lw-mark{fill:currentColor}
.lw-bars{stroke:currentColor;fill:currentColor;fill-opacity:.3}
`

// attributes are the SVG attributes of each class.
var attributes = map[class]string{
	back: `class="lw-back"`, axis: `class="lw-axis"`, grid: `class="lw-grid"`, line: `class="lw-line"`, mark: `class="lw-mark"`,
	area: `class="lw-mark" fill-opacity=".15"`, bars: `class="lw-bars"`,
}

// Style returns the style sheet of plots, for pages with plots that are [Plot.Inline].
func Style() string {
	var b bytes.Buffer
	b.WriteString(style)
	for i, pair := range colors {
		fmt.Fprintf(&b, ".lw-%d{color:%s}\n", i, pair[0])
	}
	b.WriteString("@media(prefers-color-scheme:dark){.lw-plot{color:#d8dce2}.lw-back{fill:#16191d}\n")
	for i, pair := range colors {
		fmt.Fprintf(&b, ".lw-%d{color:%s}\n", i, pair[1])
	}
	b.WriteString("}\n")
	return b.String()
}

// svg is a surface that writes SVG.
type svg struct {
	bytes.Buffer
	grouped bool // within a group, elements stand on one line
}

func (s *svg) open(l *layout, p *Plot) {
	s.printf(`<svg xmlns="http://www.w3.org/2000/svg" class="lw-plot" role="img" viewBox="0 0 %v %v" width="%v" height="%v">`+"\n",
		px(l.width), px(l.height), px(l.width), px(l.height))
	s.printf("<title>%s</title>\n", escaped(p.Title))
	if !p.Inline {
		s.printf("<style>\n%s</style>\n", Style())
	}
	s.printf(`<rect %s width="%v" height="%v" rx="4"/>`+"\n", attributes[back], px(l.width), px(l.height))
}

func (s *svg) close() { s.WriteString("</svg>\n") }

func (s *svg) group(series int) {
	s.printf(`<g class="lw-%d">`, series%len(colors))
	s.grouped = true
}

func (s *svg) end() {
	s.WriteString("</g>\n")
	s.grouped = false
}

// clip begins an inner viewport.
func (s *svg) clip(x, y, w, h float64) {
	s.printf(`<svg x="%v" y="%v" width="%v" height="%v" viewBox="%[1]v %[2]v %[3]v %[4]v">`+"\n", px(x), px(y), px(w), px(h))
}

func (s *svg) unclip() { s.WriteString("</svg>\n") }

func (s *svg) path(c class, data string) {
	s.printf(`<path %s d="%s"/>`, attributes[c], data)
	s.endLine()
}

func (s *svg) rect(c class, x, y, w, h float64) {
	s.printf(`<rect %s x="%v" y="%v" width="%v" height="%v"/>`, attributes[c], px(x), px(y), px(w), px(h))
	s.endLine()
}

func (s *svg) endLine() {
	if !s.grouped {
		s.WriteString("\n")
	}
}

func (s *svg) text(x, y, size float64, t textStyle, text string) {
	s.printf(`<text x="%v" y="%v" font-size="%v" text-anchor="%s"`, px(x), px(y), px(size), t.anchor)
	if t.bold {
		s.WriteString(` font-weight="600"`)
	}
	if t.turn != 0 {
		s.printf(` transform="rotate(%d %v %v)"`, t.turn, px(x), px(y))
	}
	s.printf(">%s</text>\n", escaped(text))
}

func (s *svg) printf(format string, args ...any) { fmt.Fprintf(s, format, args...) }

// escaped returns text as XML. Characters that XML cannot contain are replaced.
func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a bytes.Buffer never fails
	return b.String()
}
