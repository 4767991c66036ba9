package dailybudget_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/dailybudget"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, dir, run string, now time.Time) *dailybudget.RunBudgetShare {
	t.Helper()
	p, err := dailybudget.OpenShare(dir, run, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func claim(t *testing.T, p *dailybudget.RunBudgetShare, own, limit nexus.Money) (nexus.OtherRunsSpendingRecorded, bool) {
	t.Helper()
	shared, ok, err := p.Claim(t.Context(), own, limit)
	if err != nil {
		t.Fatal(err)
	}
	return shared, ok
}

func TestRunsShareADay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "purse")
	a, b := open(t, dir, "r/a", noon), open(t, dir, "r/b", noon)
	if s, ok := claim(t, a, 60, 100); !ok || s != (nexus.OtherRunsSpendingRecorded{Day: "2026-11-21"}) {
		t.Errorf("the first claim: %+v %v", s, ok)
	}
	if s, ok := claim(t, b, 41, 100); ok || s.Others != 60 {
		t.Errorf("a claim past the limit: %+v %v", s, ok)
	}
	if s, ok := claim(t, b, 40, 100); !ok || s.Others != 60 {
		t.Errorf("a claim that just fits: %+v %v", s, ok)
	}
	claim(t, a, 10, 0) // it cost less in the end
	if s, ok := claim(t, open(t, dir, "r/b", noon), 90, 100); !ok || s.Others != 10 {
		t.Errorf("the same run in another process: %+v %v", s, ok)
	}
	if s, ok := claim(t, open(t, dir, "r/c", noon.Add(12*time.Hour)), 100, 100); !ok || s.Others != 0 || s.Day != "2026-11-22" {
		t.Errorf("the next day: %+v %v", s, ok)
	}
	claim(t, open(t, dir, "r/c", noon.AddDate(0, 0, 30)), 1, 100)
	left, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(left) != 1 {
		t.Errorf("a month later there are %v, %v", left, err)
	}
}

// TestNeverTwice lets 32 runs claim at once: together they never pass the
// limit, and reach it.
func TestNeverTwice(t *testing.T) {
	dir, limit := t.TempDir(), nexus.Money(500)
	var granted atomic.Int64
	var all sync.WaitGroup
	for i := range 32 {
		p := open(t, dir, "r/"+string(rune('A'+i)), noon)
		all.Go(func() {
			for own := nexus.Money(1); own <= 50; own++ {
				_, ok, err := p.Claim(t.Context(), own, limit)
				if err != nil {
					t.Error(err)
				}
				if !ok {
					return
				}
				granted.Add(1)
			}
		})
	}
	all.Wait()
	if granted.Load() != int64(limit) {
		t.Errorf("%d were granted of %d", granted.Load(), limit)
	}
}

func TestDamageIsSaid(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "2026-11-21.json"), []byte(`{"version":1,"runs":{"a":5`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, ok, err := open(t, dir, "r/a", noon).Claim(t.Context(), 1, 100)
	e, known := errors.AsType[*nexus.Error](err)
	if ok || !known || e.Code != nexus.CodeStorage || !strings.Contains(e.Message, "2026-11-21.json") || e.Hint == "" {
		t.Errorf("%v, %v", ok, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"runs":{"a":5.25}}`))
	f.Add([]byte(`{"version":2}`))
	f.Add([]byte(`{"version":1,"runs":{"a":-1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		runs, err := dailybudget.ParseDayFile(data)
		if (err == nil) != (runs != nil) {
			t.Errorf("%v, %v", runs, err)
		}
		for run, m := range runs {
			if m < 0 {
				t.Errorf("%s has %s", run, m)
			}
		}
	})
}

func BenchmarkClaim(b *testing.B) {
	p, err := dailybudget.OpenShare(b.TempDir(), "r/a", func() time.Time { return noon })
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for i := range b.N {
		if _, _, err := p.Claim(b.Context(), nexus.Money(i), 0); err != nil {
			b.Fatal(err)
		}
	}
}
