package papers

import (
	"cmp"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// verdictMeanings explains the verdicts on claims, in the order of the page.
var verdictMeanings = []struct {
	verdict FindVerdict
	meaning string
}{
	{ClaimHeld, "Our results support the claim. Differences are significant."},
	{ClaimPartly, "It held in some cases, or with a restriction. The evidence names them. It failed in none."},
	{ClaimMixed, "It held in some cases and failed in others."},
	{ClaimFailedPartly, "It failed in some cases and held in none. The others are undecided."},
	{ClaimFailed, "Our results contradict the claim. Differences are significant, or lie within the margin."},
	{ClaimUndecided, "The differences may be due to chance."},
	{ClaimTrivial, "Our results agree, but a trivial system does as well: the best single feature, the order of the file or a random order."},
	{ClaimOpen, "The data or the numbers that it needs are not public."},
	{ClaimOnce, "It held on one synthetic data set. Another draw may differ."},
	{ClaimFailedOnce, "It failed on one synthetic data set. Another draw may differ."},
}

// sectionInClaim finds the section of the paper in a claim's text: "(5.3.1)",
// "(6.3.2, 6.4; remark)", "(section 2)", "(slide 7)", "(slide Results)", "(theorem)", "(chart)".
// A number without a dot is an equation's.
var sectionInClaim = regexp.MustCompile(` ?\((?:sections? (\d[\d., and]*)|(\d+(?:\.\d+)+(?:(?:, | and )\d+(?:\.\d+)*)*|(?:last )?[Ss]lides?(?: [^,;:()]*)?|(?:[Ff]igures?|[Tt]ables?) \d[^,;:()]*|[Tt]heorem(?: \d+)?|chart|abstract))(?:([,;:]) ([^()]*))?\)`)

// splitSection moves the last section in the claim's text to Section. Other words of the brackets
// stay.
func (f *Finding) splitSection() {
	all := sectionInClaim.FindAllStringSubmatchIndex(f.Claim, -1)
	if len(all) == 0 || f.Section != "" {
		return
	}
	at := all[len(all)-1]
	group := func(i int) string {
		if at[2*i] < 0 {
			return ""
		}
		return f.Claim[at[2*i]:at[2*i+1]]
	}
	rest := group(4)
	if group(3) == ":" {
		rest = "paper: " + rest
	}
	if rest != "" {
		rest = " (" + rest + ")"
	}
	f.Section, f.Claim = group(1)+group(2), f.Claim[:at[0]]+rest+f.Claim[at[1]:]
}

// compareSections orders sections as a paper does: by number, then other names, then none.
func compareSections(a, b string) int {
	if a == "" || b == "" {
		return strings.Compare(b, a)
	}
	first, second := numbersIn(a), numbersIn(b)
	if len(first) == 0 || len(second) == 0 {
		return cmp.Or(cmp.Compare(len(second), len(first)), strings.Compare(a, b))
	}
	return cmp.Or(slices.Compare(first, second), strings.Compare(a, b))
}

// numbersIn returns the numbers of the first section that a text names: 5, 3, 1 of "5.3.1".
func numbersIn(section string) []int {
	var found []int
	first, _, _ := strings.Cut(section, ",")
	for _, digits := range regexp.MustCompile(`\d+`).FindAllString(first, -1) {
		n, err := strconv.Atoi(digits)
		if err != nil {
			return nil // a number of twenty digits is no section
		}
		found = append(found, n)
	}
	return found
}

// heldLine is a line of the page.
type heldLine struct {
	Finding
	command string
}

// WriteHeld writes the page of what held and what did not in GitHub's Markdown: a table for each
// paper, a line for each claim.
func (a *All) WriteHeld(w io.Writer) error {
	var papers []string
	lines := make(map[string][]heldLine)
	count := make(map[FindVerdict]int)
	for i := range a.Outcomes {
		o := &a.Outcomes[i]
		if o.Report == nil {
			continue
		}
		for _, f := range o.Report.findings() {
			paper := cmp.Or(f.Paper, o.Paper, "Other experiments")
			if lines[paper] == nil {
				papers = append(papers, paper)
			}
			lines[paper] = append(lines[paper], heldLine{f, "reproduce " + o.Name})
			count[f.Verdict]++
		}
	}
	b := &markdown{}
	b.line("# What held and what did not")
	b.line("`%s` writes this page. Do not edit it.", a.fact("command"))
	b.line("Each line is a claim of a paper. A claim may have a line for every data set and measure. Lines are in the order of the paper's sections. The command of a line, `listwise reproduce NAME`, prints the tables behind it.")
	b.line("Differences are paired over test queries and random seeds. Brackets hold 95 %% confidence intervals. Significance is corrected by Holm's method over the differences of a line, so an interval that excludes 0 may belong to an undecided line. \"A > B in 26 of 32\" means that the paper counts A above B in 26 of 32 cells, where a cell is a data set and a measure.")
	b.line("Published numbers, one by one, are judged on the page of all experiments.")
	b.line("Two methods are alike, or one brings no improvement, only if the intervals lie within a margin. The line states the margin. A difference that is not significant does not suffice.")
	verdicts := Table{Left: 3, Columns: []string{"verdict", "lines", "meaning"}}
	for _, v := range verdictMeanings {
		verdicts.Rows = append(verdicts.Rows, []string{string(v.verdict), strconv.Itoa(count[v.verdict]), v.meaning})
	}
	b.table(&verdicts)
	for _, paper := range papers {
		b.line("## %s", paper)
		slices.SortStableFunc(lines[paper], func(a, b heldLine) int { return compareSections(a.Section, b.Section) })
		t := Table{Left: 5, Columns: []string{"section", "claim", "verdict", "evidence", "command"}}
		for _, l := range lines[paper] {
			t.Rows = append(t.Rows, []string{l.Section, l.Claim, string(l.Verdict), l.Figure, l.command})
		}
		b.table(&t)
	}
	_, err := w.Write(b.Bytes())
	return err
}
