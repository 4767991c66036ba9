package external_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/external"
)

// The agents of the benchmark: how many work at once, and what each says.
const (
	atOnce   = 8
	messages = 400 // lines of a kilobyte and more
)

// launched is a program in the sandbox, as a worker has it.
type launched struct{ agentcli.Launch }

func (l launched) NewID() string { return l.Program.NewID() }
func (l launched) Resumes() bool { return l.Program.Resumes() }

// booked writes facts to a journal.
type booked struct {
	lease *journal.Lease
	said  func() // is called with the first turn
	once  sync.Once
}

func (d *booked) Record(ctx context.Context, facts ...nexus.Fact) error {
	if slices.ContainsFunc(facts, func(f nexus.Fact) bool { return nexus.Kind(f) == nexus.Kind(nexus.TurnTaken{}) }) {
		d.once.Do(d.said)
	}
	_, err := d.lease.Append(ctx, facts...)
	return err
}

func (d *booked) Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]agent.Guidance, error) {
	return nil, d.Record(ctx, append(done, r)...)
}

// BenchmarkAgents runs an agent alone and, in turn, eight that work at once under
// Nexus: in the sandbox, with a journal on the disk. It shows what Nexus adds until
// the first message (one agent, the middle of all rounds, the sandbox's own start
// apart), its own processor time for each message, and how much memory it takes at
// most for eight.
func BenchmarkAgents(b *testing.B) {
	box, err := sandbox.Find(b.Context(), sandbox.Auto)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeSandbox}) {
		testenv.NeedMachine(b, "a sandbox", err)
	}
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	file := filepath.Join(dir, "agent")
	if err := os.WriteFile(filepath.Join(dir, "says"), talk(), 0o600); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("#!/bin/sh\nexec cat \"$(dirname \"$0\")/says\"\n"), 0o700); err != nil {
		b.Fatal(err)
	}
	j, err := journal.Open(b.Context(), filepath.Join(dir, "state", "journal.db"), journal.Options{Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	blobs, err := journal.OpenBlobs(filepath.Join(dir, "blobs"))
	if err != nil {
		b.Fatal(err)
	}
	before := memory(b, "VmRSS")
	var alone, boxed, under []time.Duration
	var used time.Duration
	said, round := 0, 0
	for b.Loop() {
		alone = append(alone, first(b, exec.Command(file)))
		began := time.Now()
		if _, err := box.Run(b.Context(), sandbox.Command{Args: []string{"/bin/true"}, Dir: dir, Env: []string{"PATH=/bin"}}); err != nil {
			b.Fatal(err)
		}
		boxed = append(boxed, time.Since(began))
		for _, n := range []int{1, atOnce} {
			round++
			lease, err := j.Acquire(b.Context(), nexus.RunID(fmt.Sprintf("r%d", round)), journal.Self(), time.Hour)
			if err != nil {
				b.Fatal(err)
			}
			start := processor(b)
			var all sync.WaitGroup
			for i := range n {
				all.Go(func() {
					began := time.Now()
					d := &booked{lease: lease, said: func() {
						if n == 1 {
							under = append(under, time.Since(began))
						}
					}}
					l := launched{agentcli.Launch{
						Program: agentcli.Program{Name: "claude", Speaks: "claude"}, File: file, Run: box.Run, Silence: time.Minute, Working: time.Minute,
						Command: sandbox.Command{Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}},
					}}
					attempt := nexus.AttemptID(fmt.Sprintf("T%d.1", i+1))
					o, err := external.Run(b.Context(), l, external.Brief{
						Agent: "claude", Session: nexus.SessionID(string(attempt) + "/coder.1"), Attempt: attempt, Task: nexus.TaskID(fmt.Sprintf("T%d", i+1)), Role: nexus.Coder,
						Model: "claude/default", Guide: "GUIDE", Next: "Do it.", Why: "brief", Now: time.Now, Draw: func(string) uint64 { return 7 },
						Snapshot: func(context.Context) (nexus.TreeSnapshotted, error) {
							return nexus.TreeSnapshotted{Attempt: attempt}, nil
						},
					}, d, blobs)
					if err != nil || o.Outcome != nexus.Accepted {
						b.Errorf("ended as %q: %v", o.Outcome, err)
					}
				})
			}
			all.Wait()
			if n == atOnce {
				used += processor(b) - start
				said += n * messages
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(millis(middle(under)-middle(alone)), "added-to-start-ms")
	b.ReportMetric(millis(middle(boxed)), "sandbox-start-ms")
	b.ReportMetric(millis(used)/float64(said), "cpu-ms/message")
	b.ReportMetric(float64(memory(b, "VmHWM")-before)/(1<<20), "MB/8-agents")
}

// talk is what the agent says: calls of tools with their answers, and the end.
func talk() []byte {
	var out strings.Builder
	out.WriteString(`{"type":"system","subtype":"init","session_id":"s","model":"m","tools":[]}` + "\n")
	long := strings.Repeat(`some output of a tool\n`, 50)
	for i := range messages / 2 {
		fmt.Fprintf(&out, `{"type":"assistant","message":{"id":"m%d","content":[{"type":"text","text":"Let me look at that."},`+
			`{"type":"tool_use","id":"c%d","name":"Bash","input":{"command":"go test ./..."}}],"usage":{"input_tokens":10,"output_tokens":20}}}`+"\n", i, i)
		fmt.Fprintf(&out, `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c%d","content":"%s"}]}}`+"\n", i, long)
	}
	out.WriteString(`{"type":"result","subtype":"success","is_error":false,"result":"ok"}` + "\n")
	return []byte(out.String())
}

// first returns how long it takes until a command has printed its second line,
// which is its first message.
func first(b *testing.B, c *exec.Cmd) time.Duration {
	b.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	r := bufio.NewReader(out)
	for range 2 {
		if _, err := r.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	took := time.Since(began)
	if _, err := io.Copy(io.Discard, r); err != nil {
		b.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		b.Fatal(err)
	}
	return took
}

// processor returns the processor time of this process, without its children.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// memory returns a figure of this process in /proc, in bytes.
func memory(b *testing.B, what string) int64 {
	b.Helper()
	data, err := os.ReadFile("/proc/self/status")
	testenv.NeedMachine(b, "figures in /proc", err)
	_, rest, _ := strings.Cut(string(data), what+":")
	var kb int64
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		b.Fatal(err)
	}
	return kb << 10
}

func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
