package app

import (
	"github.com/spf13/cobra"

	"github.com/listwise/listwise/click"
)

func newClicksInfoCommand(env *environment) *cobra.Command {
	var f pagesFlags
	cmd := &cobra.Command{
		Use:     "info PAGES...",
		Short:   "Summarize a log of pages and report anomalies",
		Long:    `Counts pages, users, queries and clicks. Several files count as one log.`,
		Example: `  listwise clicks info pages.jsonl.gz`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c := click.Counts{}
			t, err := f.read(cmd, env, "", args, c.Add)
			if err != nil {
				return err
			}
			r := report{columns: []string{"what", "value"}}
			r.rows = append(r.rows, []any{"pages", t.Pages}, []any{"users", t.Users.Len()}, []any{"queries", c.Queries()}, []any{"pairs", c.Pairs()})
			r.json = map[string]int{"pages": t.Pages, "users": t.Users.Len(), "queries": c.Queries(), "pairs": c.Pairs()}
			return env.print(r)
		},
	}
	f.add(cmd)
	return cmd
}
