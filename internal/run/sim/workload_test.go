package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// repeating is a workload whose first sort the fast tier can hardly do, and its
// second one easily.
func repeating(_, sort int, tier nexus.Tier) float64 {
	if sort == 0 && tier == nexus.Fast {
		return 0.05
	}
	return 0.95
}

// TestLessonsSave plays a workload that repeats twice: without lessons and with
// them, with the same luck.
func TestLessonsSave(t *testing.T) {
	var all, first, last, sooner, time float64
	seeds := lessonSeeds()
	for seed := range uint64(seeds) {
		w := RunSeriesWorkload{Runs: 40, Tasks: 5, Works: func(n, _ int, tier nexus.Tier) float64 { return repeating(n, 0, tier) }}
		off, on := teach(t, seed, w, false), teach(t, seed, w, true)
		ratio := on.PerLanded() / off.PerLanded()
		if ratio > 0.75 || on.Landed < off.Landed {
			t.Errorf("seed %d: with lessons a landed task costs %.0f %%; %d landed, without them %d", seed, 100*ratio,
				on.Landed, off.Landed)
		}
		first, last = first+mean(on.Cost[:w.Tasks]), last+mean(on.Cost[len(on.Cost)-50:])
		all, sooner = all+ratio/float64(seeds), sooner+float64(off.Tries-on.Tries)/float64(seeds)
		time += on.Took.Seconds() / off.Took.Seconds() / float64(seeds)
	}
	if last > 0.75*first {
		t.Errorf("the last 50 tasks cost %.0f %% of those of the first run, which could learn nothing", 100*last/first)
	}
	t.Logf("with lessons a landed task costs %.0f %% over 200 tasks, and the last 50 cost %.0f %% of those of the first run; %.0f fewer attempts, %.0f %% of the time", 100*all, 100*last/first, sooner, 100*time)
}

// TestLessonsForget plays workloads that change: once, back and forth at odd times,
// and between chances that differ less. Whatever was learned before, a landed task
// never costs 5 % more for it. Nor does it on average where nothing changes and
// luck alone says what is learned: there single workloads differ by their luck.
func TestLessonsForget(t *testing.T) {
	either := func(is bool, yes, no float64) func(tier nexus.Tier) float64 {
		return func(tier nexus.Tier) float64 {
			switch {
			case tier != nexus.Fast:
				return 0.95
			case is:
				return yes
			}
			return no
		}
	}
	turns := func(r *rand.Rand, hard, easy float64) func(n, sort int, tier nexus.Tier) float64 {
		var is [2][200]bool
		for sort := range is {
			now, left := r.IntN(2) == 0, 0
			for n := range is[sort] {
				if left--; left < 0 {
					now, left = !now, 15+r.IntN(50)
				}
				is[sort][n] = now
			}
		}
		return func(n, sort int, tier nexus.Tier) float64 { return either(is[sort][n], hard, easy)(tier) }
	}
	for name, draw := range map[string]func(r *rand.Rand) func(n, sort int, tier nexus.Tier) float64{
		"becomes easy": func(*rand.Rand) func(int, int, nexus.Tier) float64 {
			return func(n, _ int, tier nexus.Tier) float64 { return either(n < 100, 0.05, 0.95)(tier) }
		},
		"becomes hard": func(*rand.Rand) func(int, int, nexus.Tier) float64 {
			return func(n, _ int, tier nexus.Tier) float64 { return either(n < 100, 0.95, 0.05)(tier) }
		},
		"goes back and forth": func(r *rand.Rand) func(int, int, nexus.Tier) float64 { return turns(r, 0.05, 0.95) },
		"changes a little":    func(r *rand.Rand) func(int, int, nexus.Tier) float64 { return turns(r, 0.15, 0.75) },
		chance: func(r *rand.Rand) func(int, int, nexus.Tier) float64 {
			p := 0.2 + 0.6*r.Float64()
			return func(_, _ int, tier nexus.Tier) float64 { return either(true, p, p)(tier) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			worst, sum, seeds := 0.0, 0.0, lessonSeeds()
			for seed := range uint64(seeds) {
				w := RunSeriesWorkload{Runs: 40, Tasks: 5, Works: draw(rand.New(rand.NewPCG(seed, 9)))}
				off, on := teach(t, seed, w, false), teach(t, seed, w, true)
				ratio := on.PerLanded() / off.PerLanded()
				if ratio > 1.05 && name != chance || on.Landed < off.Landed-1 {
					t.Errorf("seed %d: with lessons a landed task costs %.0f %%; %d landed, without them %d", seed,
						100*ratio, on.Landed, off.Landed)
				}
				worst, sum = max(worst, ratio), sum+ratio/float64(seeds)
			}
			if sum > 1.05 {
				t.Errorf("with lessons a landed task costs %.0f %% on average", 100*sum)
			}
			t.Logf("with lessons a landed task costs %.0f %% on average, at most %.0f %%", 100*sum, 100*worst)
		})
	}
}

const chance = "is up to chance"

// lessonSeeds is how many workloads of a sort are played: each is 400 tasks.
func lessonSeeds() int {
	if testenv.IsRaceEnabled() || testing.Short() {
		return 2
	}
	return 4
}

func teach(t *testing.T, seed uint64, w RunSeriesWorkload, learns bool) WorkloadResult {
	t.Helper()
	out, err := PlayWorkload(seed, w, learns)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func mean(all []nexus.Money) float64 {
	sum := 0.0
	for _, m := range all {
		sum += m.Dollars()
	}
	return sum / float64(len(all))
}
