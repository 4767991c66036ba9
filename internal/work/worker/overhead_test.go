package worker_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// The agent of the benchmarks speaks as Claude Code does.
const (
	speaks = `read -r prompt
printf '{"type":"system","subtype":"init","session_id":"s","model":"opus"}\n'
`
	ends = `printf '{"type":"result","subtype":"success","is_error":false,"result":"ok","modelUsage":{"opus":{"inputTokens":1}}}\n'
`
)

// walled is a maker whose agent speaks as Claude Code does, in the sandbox, and
// whose facts go to a journal.
func walled(b *testing.B, script string) *maker {
	b.Helper()
	m := made(b, nexus.Coder, script)
	box, err := sandbox.FindSandbox(b.Context(), sandbox.ModeAuto)
	if err != nil {
		b.Skip(err)
	}
	m.Site.Box = box
	agents := m.Sessions.External
	all, _ := agents(nexus.Coder, nexus.Fast, "")
	all[0].Program.Speaks, all[0].Program.Args, all[0].Seen = "claude", nil, []string{filepath.Dir(all[0].File)}
	m.Sessions.External = func(nexus.Role, nexus.Tier, string) ([]*worker.ExternalAgent, []string) { return all, nil }
	j, err := journal.Open(b.Context(), filepath.Join(b.TempDir(), "journal.db"), journal.Options{Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = j.Close() })
	lease, err := j.Acquire(b.Context(), "r", journal.CallingProcess(), time.Hour)
	if err != nil {
		b.Fatal(err)
	}
	record := m.talk.Record
	m.talk.Record = func(ctx context.Context, facts ...nexus.Fact) error { // as the conductor does
		if _, err := lease.Append(ctx, facts...); err != nil {
			return err
		}
		return record(ctx, facts...)
	}
	return m
}

// next has the maker begin another session.
func (m *maker) next(i int) {
	m.talk.Session = nexus.SessionID(fmt.Sprintf("T1.1/coder.%d", i))
	m.facts = nil
}

// BenchmarkExternalStart is how long it takes until an agent runs: started by
// hand, and by Nexus, with its home, its login, the sandbox and the facts.
func BenchmarkExternalStart(b *testing.B) {
	const script = speaks + `date +%s%N >began; ` + ends
	began := func(b *testing.B, file string, since time.Time) time.Duration {
		b.Helper()
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		ns, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		return time.Unix(0, ns).Sub(since)
	}
	m := walled(b, script)
	agents, _ := m.Sessions.External(nexus.Coder, nexus.Fast, "")
	var alone, nexusTook []float64
	for i := 0; b.Loop(); i++ { // taskPackage turns, since the load of the machine changes
		c := exec.CommandContext(b.Context(), agents[0].File)
		c.Dir, c.Stdin = b.TempDir(), strings.NewReader("{}\n")
		since := time.Now()
		if err := c.Run(); err != nil {
			b.Fatal(err)
		}
		alone = append(alone, began(b, filepath.Join(c.Dir, "began"), since).Seconds()*1000)
		m.next(i + 1)
		since = time.Now()
		m.converse(b)
		nexusTook = append(nexusTook, began(b, filepath.Join(m.talk.Tree.Dir, "began"), since).Seconds()*1000)
	}
	b.ReportMetric(middle(alone), "ms-alone")
	b.ReportMetric(middle(nexusTook)-middle(alone), "ms-added")
}

// BenchmarkExternalMessage is the processor time that a message of an agent costs in
// Nexus: what it says, what it calls and what it gets. What changes files is
// pinned besides, see BenchmarkExternalEdit.
func BenchmarkExternalMessage(b *testing.B) {
	const n = 600
	benchmarkMessages(b, n, `i=0; while [ $i -lt 300 ]; do i=$((i+1))
printf '{"type":"assistant","message":{"content":[{"type":"text","text":"I read on."},{"type":"tool_use","id":"c%s","name":"Read","input":{"file_path":"bad"}}]}}\n' $i
printf '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c%s","content":"some text of a file that is not long"}]}}\n' $i
done
`)
}

// BenchmarkExternalEdit is the same for changes of files, each of which is pinned.
func BenchmarkExternalEdit(b *testing.B) {
	const n = 60
	benchmarkMessages(b, n, `i=0; while [ $i -lt 30 ]; do i=$((i+1))
printf '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c%s","name":"Edit","input":{"file_path":"bad"}}]}}\n' $i
echo $i >bad
printf '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c%s","content":"done"}]}}\n' $i
done
`)
}

func benchmarkMessages(b *testing.B, n int, script string) {
	b.Helper()
	silent, chatty := walled(b, speaks+ends), walled(b, speaks+script+ends)
	var own []float64
	for i := 0; b.Loop(); i++ {
		took := func(m *maker) time.Duration {
			m.next(i + 1)
			before := processor(b)
			m.converse(b)
			return processor(b) - before
		}
		own = append(own, float64(took(chatty)-took(silent))/float64(n)/1e6)
	}
	b.ReportMetric(middle(own), "ms-cpu/message")
}

// processor returns the time that this process has used. Children count apart.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkExternalMemory is the most that eight agents at once take in Nexus, each of
// which says 200 messages of 2 KB.
func BenchmarkExternalMemory(b *testing.B) {
	const agents = 8
	var makers []*maker
	var mu sync.Mutex // guards most and turns
	var most, turns int64
	for range agents {
		m := walled(b, speaks+`text=$(printf '%02000d' 0); i=0; while [ $i -lt 200 ]; do i=$((i+1))
printf '{"type":"assistant","message":{"content":[{"type":"text","text":"%s"}]}}\n' "$text"
done
`+ends)
		record := m.talk.Record
		m.talk.Record = func(ctx context.Context, facts ...nexus.Fact) error {
			mu.Lock()
			if turns++; turns%20 == 0 {
				most = max(most, rss(b))
			}
			mu.Unlock()
			return record(ctx, facts...)
		}
		makers = append(makers, m)
	}
	var resident []float64
	for i := 0; b.Loop(); i++ {
		debug.FreeOSMemory()
		most = 0
		before := rss(b)
		var work sync.WaitGroup
		for _, m := range makers {
			m.next(i + 1)
			work.Go(func() { m.converse(b) })
		}
		work.Wait()
		resident = append(resident, float64(most-before)/(1<<20))
	}
	b.ReportMetric(middle(resident), "MB-resident")
}

// rss returns how many bytes of this process are resident.
func rss(b *testing.B) int64 {
	b.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(data))[1], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// middle returns the median.
func middle(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	if len(all) == 0 {
		return 0
	}
	return all[len(all)/2]
}
