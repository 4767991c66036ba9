package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// silences is the factor for the allowed silence of a runner that does not report when its
// tests are done, since one of them may take long, and of one that is made to exit, since it
// first finds open handles.
const silences = 6

// baseHangSigns returns the signs that a gate reported all its test results, and hangs.
func baseHangSigns(g QualityGate) HangDetectionRules {
	s := HangDetectionRules{Linger: g.Linger}
	for _, name := range []string{g.Format, g.Hold.Format} {
		if f, ok := stack.OutputFormats().FindFormat(name); ok && f.Tests && s.Over == "" {
			s.Over = f.Over
		}
	}
	return s
}

// hangSigns is [baseHangSigns], and for a runner that is silent when it cannot exit, the
// silence after which that is investigated.
func hangSigns(g QualityGate, limit time.Duration) HangDetectionRules {
	s := baseHangSigns(g)
	if g.Hold.Told == "" || g.Linger <= 0 || g.Of != "" {
		return s
	}
	s.Told, s.Quiet = g.Hold.Told, silences*g.Linger
	if limit > 0 {
		s.Quiet = min(s.Quiet, limit/2)
	}
	return s
}

// unfinishedReport returns the report of a runner that completed its test results and did not
// exit: if the tests passed, nothing else is red, but it is no pass.
func unfinishedReport(read outputparser.ParsedToolOutput) outputparser.ParsedToolOutput {
	if read.State == nexus.Pass || read.State == nexus.Flaky {
		read.State = nexus.Environmental
	}
	return read
}

// investigateHang finds the cause of a hanging runner: the tests run once more, in a way that
// lists open handles and then exits. If the runner reported all test results, those are used.
// Otherwise the results of the second run are.
func (r GateRunner) investigateHang(ctx context.Context, t JudgedTreeDir, g QualityGate, limit time.Duration, res sandbox.Result, read outputparser.ParsedToolOutput, end WatchedRunEnd) (sandbox.Result, outputparser.ParsedToolOutput, error) {
	left, why := limit, fmt.Sprintf("it did not exit within %s after that", g.Linger)
	if limit > 0 {
		left = limit - res.Duration
	}
	if res.TimedOut {
		why = fmt.Sprintf("it did not exit within its limit of %s", limit)
	}
	other, again, otherEnd, err := r.rerunTestsForcingExit(ctx, t, g, limit, left)
	if err != nil {
		return res, read, err
	}
	ended := other.Duration > 0 && !other.TimedOut && other.Exit >= 0
	open := FindOpenHandles(readerInput(t, g, other))
	switch {
	case ended && len(open) == 0 && end.Hung && end.isAsSlow(otherEnd):
		if limit > 0 {
			limit = max(left-other.Duration, time.Second)
		}
		before := res.Duration + other.Duration
		res, read, _, err = r.runWithHangSigns(ctx, t, g, limit, HangDetectionRules{})
		res.Duration += before
		return res, read, err
	case end.Over:
	case !ended: // the second run hung as well
		res.TimedOut, res.Duration = true, res.Duration+other.Duration
		return res, read, nil
	default:
		res.Stdout, res.Stderr, read = append(res.Stdout, other.Stdout...), append(res.Stderr, other.Stderr...), unfinishedReport(again)
		why = fmt.Sprintf("it did not exit: it printed nothing for %s, and ended when it was forced to", hangSigns(g, r.gateTimeLimit(g)).Quiet)
	}
	if read.State == nexus.Environmental {
		read.Why = "every test passed, and " + why
	} else {
		read.Why = cmp.Or(read.Why, "its tests ended, and "+why)
	}
	res.Exit, res.TimedOut = -1, false
	if len(open) == 0 {
		open = []nexus.Finding{{Code: parserbase.CodeHang, Message: "the runner reported all its tests, but something keeps it from exiting: a server, a timer, a thread or a child process"}}
	}
	for i := range open {
		open[i].Gate, open[i].Advice = g.Name, "Close it when the tests are done"+forceExitAdvice(g)+"."
	}
	read.Findings = append(slices.Clip(read.Findings), open...)
	return res, read, nil
}

// rerunTestsForcingExit runs the tests of a hanging runner in a way that makes it exit. The zero
// result means that the runner has no such way, or that there is no time.
func (r GateRunner) rerunTestsForcingExit(ctx context.Context, t JudgedTreeDir, g QualityGate, limit, left time.Duration) (sandbox.Result, outputparser.ParsedToolOutput, WatchedRunEnd, error) {
	if len(g.Hold.Args) == 0 || g.Of != "" || limit > 0 && left < time.Second {
		return sandbox.Result{}, outputparser.ParsedToolOutput{}, WatchedRunEnd{}, nil
	}
	g.Args, g.Format, g.Reports = g.Hold.Args, cmp.Or(g.Hold.Format, g.Format), nil
	s := baseHangSigns(g)
	s.Linger *= silences
	s.Told = g.Hold.Told // its silences are measured, and not limited
	res, read, end, err := r.runWithHangSigns(ctx, t, g, left, s)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		err = nil
	}
	return res, read, end, err
}

// forceExitAdvice returns how to make the runner exit despite open handles.
func forceExitAdvice(g QualityGate) string {
	if g.Hold.Flag == "" {
		return ""
	}
	return ", or make the gate's command force an exit with " + g.Hold.Flag
}

// runningTestFinding names the test that was running at the timeout.
func runningTestFinding(g QualityGate, t JudgedTreeDir, res sandbox.Result, found []nexus.Finding) []nexus.Finding {
	if !g.Tests || slices.ContainsFunc(found, func(f nexus.Finding) bool {
		return f.Code == parserbase.CodeVanished || f.Code == parserbase.CodeTimeout
	}) {
		return nil
	}
	in := readerInput(t, g, res)
	format := g.Format
	if format == outputparser.Exit {
		f := stack.OutputFormats().RecognizeFormat(in)
		format = f.Name
	}
	f := nexus.Finding{Gate: g.Name, Code: parserbase.CodeTimeout, Message: "it was running when the time was up"}
	f.Test, f.File = FindRunningTest(format, in)
	if f.File = in.RelativePath(f.File); f.Test == "" && f.File == "" {
		return nil
	}
	return []nexus.Finding{f}
}
