package sim

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ChaosTestReport summarizes the runs of many seeds.
type ChaosTestReport struct {
	First      uint64                  `json:"first_seed"`
	Seeds      int                     `json:"seeds"`
	Violations int                     `json:"violations"`
	Ends       map[nexus.RunStatus]int `json:"ends"` // runs by their status at the end
	Tasks      int                     `json:"tasks"`
	Landed     int                     `json:"landed"`
	Steps      int                     `json:"steps"`
	Events     int                     `json:"events"`
	Calls      int                     `json:"calls"`
	Repeated   int                     `json:"repeated"` // calls that were in flight when their process died
	Deaths     int                     `json:"deaths"`
	Lives      int                     `json:"lives"`
	Virtual    time.Duration           `json:"virtual_ns"`
	Worst      *SeedRunResult          `json:"worst,omitempty"` // the first seed with a violation
}

// PlayChaos plays n seeds from the first one on, on all processors, and passes each result to each
// in the order of the seeds. Each may be nil.
func PlayChaos(seed uint64, n int, each func(SeedRunResult)) ChaosTestReport {
	defer relaxGC()()
	r := ChaosTestReport{First: seed, Seeds: n, Ends: map[nexus.RunStatus]int{}}
	var next atomic.Int64
	results := make(chan SeedRunResult, runtime.GOMAXPROCS(0))
	var players sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		players.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				results <- playSeed(seed + uint64(i)) //nolint:gosec // i is not below 0
			}
		})
	}
	early := map[uint64]SeedRunResult{}
	for want := range n {
		for {
			if x, ok := early[seed+uint64(want)]; ok { //nolint:gosec // want is not below 0
				delete(early, x.Seed)
				r.addResult(x)
				if each != nil {
					each(x)
				}
				break
			}
			x := <-results
			early[x.Seed] = x
		}
	}
	players.Wait()
	return r
}

func (r *ChaosTestReport) addResult(x SeedRunResult) {
	r.Ends[x.Status]++
	r.Tasks += x.Tasks
	r.Landed += x.Landed
	r.Steps += x.Steps
	r.Events += x.Events
	r.Calls += x.Calls
	r.Repeated += x.Repeated
	r.Deaths += x.Deaths
	r.Lives += x.Lives
	r.Virtual += x.Virtual
	if x.Violation != "" {
		r.Violations++
		if r.Worst == nil {
			r.Worst = &x
		}
	}
}

// relaxGC makes garbage collection rarer until off is called: all data of a run is a few hundred
// kilobytes, of which little is retained.
func relaxGC() (off func()) {
	was := debug.SetGCPercent(800)
	return func() { debug.SetGCPercent(was) }
}
