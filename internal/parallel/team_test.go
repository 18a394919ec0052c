package parallel

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// Claim: every part of every piece of work is done once, by as many goroutines as there are parts or fewer, on any
// number of processors, and whether the goroutines wait or sleep between two pieces. The counts are not atomic: the
// race detector would report parts that are done twice, or after Run has returned.
func TestTeamDoesEveryPartOnce(t *testing.T) {
	for _, processors := range []int{1, 2, 4} {
		for _, parts := range []int{0, 1, 2, 3, 7} {
			before := runtime.GOMAXPROCS(processors)
			team := NewTeam(parts)
			want := max(1, parts)
			if team.Parts() != want {
				t.Fatalf("a team of %d parts has %d", parts, team.Parts())
			}
			count := make([]int, want)
			do := func(part int) { count[part]++ }
			const rounds = 2000
			for round := range rounds {
				if round%500 == 499 {
					time.Sleep(2 * time.Millisecond) // some hundred times the patience
				}
				team.Ahead = make([]float32, 1000*(round%3))
				team.Run(do)
				for part, n := range count {
					if n != round+1 {
						t.Fatalf("%d processors, %d parts: part %d was done %d times in %d rounds", processors, parts, part, n, round+1)
					}
				}
			}
			team.Close()
			runtime.GOMAXPROCS(before)
		}
	}
}

// Claim: the caller does what nobody has begun, so that on one processor it does not wait for goroutines that have
// had no turn.
func TestTeamDoesNotWaitForWhoHasNotBegun(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	team := NewTeam(2)
	defer team.Close()
	byCaller := 0
	for range 100 {
		team.Run(func(part int) {
			if part == 1 && strings.Contains(string(debug.Stack()), "TestTeamDoesNotWaitForWhoHasNotBegun(") {
				byCaller++
			}
		})
	}
	if byCaller < 50 { // the runtime lets the others run now and then
		t.Errorf("%d of 100 pieces were done by the caller alone, expected nearly all", byCaller)
	}
}

// Claim: a panic of a part is the caller's, whoever does the part, and tells where it came from; the team goes on.
func TestTeamPassesPanicsOn(t *testing.T) {
	team := NewTeam(2)
	defer team.Close()
	bad := errors.New("bad part")
	for range 100 {
		func() {
			defer func() {
				value := recover()
				var p *Panic
				switch err, ok := value.(error); {
				case !ok || !errors.Is(err, bad):
					t.Errorf("panic with %v", value)
				case errors.As(err, &p) && (p.Item != 1 || len(p.Stack) == 0):
					t.Errorf("panic of item %d with a stack of %d bytes", p.Item, len(p.Stack))
				}
			}()
			team.Run(func(part int) {
				if part == 1 {
					panic(bad)
				}
				runtime.Gosched()
			})
		}()
	}
	sum := make([]int, 2)
	team.Run(func(part int) { sum[part] = part })
	if sum[1] != 1 {
		t.Error("the team does nothing after a panic")
	}
}

// Claim: pieces of work allocate nothing.
func TestTeamAllocatesNothing(t *testing.T) {
	team := NewTeam(2)
	defer team.Close()
	do := func(int) {}
	if n := testing.AllocsPerRun(1000, func() { team.Run(do) }); n != 0 {
		t.Errorf("a piece of work allocates %v times", n)
	}
}

// The time of a piece of work of nothing: what dividing costs.
func BenchmarkTeam(b *testing.B) {
	team := NewTeam(2)
	defer team.Close()
	do := func(int) {}
	for b.Loop() {
		team.Run(do)
	}
}
