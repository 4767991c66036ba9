package journal_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// facts returns n facts as a turn of a coder leaves them.
func facts(n int) []nexus.Fact {
	const blob = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	some := []nexus.Fact{
		nexus.BudgetReserved{ID: "T3.2/coder.1/17", Task: "T3", Session: "T3.2/coder.1", Role: nexus.Coder, Model: "anthropic/claude", Money: 123_456_789},
		nexus.BudgetSettled{ID: "T3.2/coder.1/17", Money: 23_456_789, Usage: nexus.Usage{Input: 1200, Output: 340, CacheRead: 20_000}},
		nexus.ModelTurnRecorded{Session: "T3.2/coder.1", Turn: 17, Message: blob, Stop: "tools", Says: "Let me look at how the parser reads a header."},
		nexus.ToolCallStarted{Session: "T3.2/coder.1", Call: "toolu_01A09q90qw90lq917835lq9", Tool: "shell", About: "go test ./internal/parse/..."},
		nexus.ToolCallEnded{Session: "T3.2/coder.1", Call: "toolu_01A09q90qw90lq917835lq9", Duration: time.Second, About: "ok internal/parse 0.31s"},
		nexus.ToolResultsSent{Session: "T3.2/coder.1", Message: blob},
		nexus.TreeSnapshotted{Attempt: "T3.2", Commit: blob[:40], Tree: blob[20:60]},
	}
	all := make([]nexus.Fact, n)
	for i := range all {
		all[i] = some[i%len(some)]
	}
	return all
}

// BenchmarkAppend appends durably; bare SQLite writing the same rows is what
// it is compared with. Read fact/s.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 5, 64} {
		some := facts(n)
		b.Run(fmt.Sprintf("journal/%d", n), func(b *testing.B) {
			j := open(b)
			l := acquire(b, j, "r")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Append(b.Context(), some...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "fact/s")
		})
		b.Run(fmt.Sprintf("sqlite/%d", n), func(b *testing.B) { benchBare(b, some) })
	}
}

func benchBare(b *testing.B, some []nexus.Fact) {
	b.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+
		"?_txlock=immediate&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("create table event (seq integer primary key, run text, at integer, kind text, data text, hash blob) strict"); err != nil {
		b.Fatal(err)
	}
	hash := make([]byte, 32)
	for b.Loop() {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		put, err := tx.Prepare("insert into event (run, at, kind, data, hash) values (?, ?, ?, ?, ?)")
		if err != nil {
			b.Fatal(err)
		}
		defer put.Close()
		for _, f := range some {
			kind, data, err := nexus.EncodeFact(f)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := put.Exec("r", 1, kind, string(data), hash); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(some))/b.Elapsed().Seconds(), "fact/s")
}

// BenchmarkRead reads a long day's run of 20,000 facts back.
func BenchmarkRead(b *testing.B) {
	const n = 20_000
	j := open(b)
	l := acquire(b, j, "r")
	for range 20 {
		if _, err := l.Append(b.Context(), facts(n/20)...); err != nil {
			b.Fatal(err)
		}
	}
	for _, run := range []nexus.RunID{"r", ""} {
		b.Run(fmt.Sprintf("run=%q", run), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				got := 0
				for _, err := range j.Events(b.Context(), run, 0) {
					if err != nil {
						b.Fatal(err)
					}
					got++
				}
				if got != n {
					b.Fatalf("read %d events, want %d", got, n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/fact")
		})
	}
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if r, err := j.Verify(b.Context()); err != nil || !r.Sound {
				b.Fatal(r, err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/fact")
	})
}

// BenchmarkOpen opens and closes a journal that exists.
func BenchmarkOpen(b *testing.B) {
	for _, readOnly := range []bool{false, true} {
		b.Run(fmt.Sprintf("readonly=%v", readOnly), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "journal.db")
			openAt(b, path).Close()
			for b.Loop() {
				j, err := journal.Open(b.Context(), path, journal.Options{Now: time.Now, ReadOnly: readOnly})
				if err != nil {
					b.Fatal(err)
				}
				j.Close()
			}
		})
	}
}
