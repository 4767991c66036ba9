package gate

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Pass lets the gates judge a tree in their order and stops at the first red
// one. Evidence that known has for this very tree, command and toolchain is
// taken over. The verdict has passed when every gate has; a gate that did not
// run is red too, unless it did not run on the base either.
func (r Runner) Pass(ctx context.Context, t Tree, gates []Gate, known func(tree, gate string) (nexus.Evidence, bool)) (nexus.Verdict, error) {
	v := nexus.Verdict{Tree: t.Hash}
	green := 0
	for _, g := range gates {
		raw, cached, err := r.once(ctx, t, g, known)
		if err != nil {
			return nexus.Verdict{Tree: t.Hash}, err
		}
		e, base := raw, nexus.Evidence{}
		if r.Base != nil {
			if b, ok := r.Base(g.Name); ok {
				e, base = Against(b, raw), b
			}
		}
		if r.Judged != nil {
			if err := r.Judged(e, cached); err != nil {
				return nexus.Verdict{Tree: t.Hash}, err
			}
		}
		v.Evidence = append(v.Evidence, e)
		switch {
		case e.Passed():
			green++
		case e.State == nexus.NotRun && base.State == nexus.NotRun && base.Tree != "":
		default:
			v.Why = reason(e)
			return v, nil
		}
	}
	v.Passed = green > 0 && t.Hash != ""
	if !v.Passed {
		v.Why = "no gate could judge the tree"
	}
	return v, nil
}

// once returns what is known of a gate on a tree, or runs it. Only a plain
// pass or failure is taken over: the other states may be different next time,
// and one that was weighed against a base holds for that base alone.
func (r Runner) once(ctx context.Context, t Tree, g Gate, known func(tree, gate string) (nexus.Evidence, bool)) (e nexus.Evidence, cached bool, err error) {
	if known != nil {
		old, ok := known(t.Hash, g.Name)
		now := r.blank(ctx, t, g)
		settled := (old.State == nexus.Pass || old.State == nexus.Fail) && old.Why == ""
		if ok && settled && old.Tree == now.Tree && old.Tree != "" && old.Gate == now.Gate && old.Command == now.Command && old.Toolchain == now.Toolchain {
			return old, true, nil
		}
	}
	e, err = r.Judge(ctx, t, g)
	return e, false, err
}

// reason says in a few words why a gate is red.
func reason(e nexus.Evidence) string {
	switch {
	case e.State == nexus.Fail && len(e.Findings) == 1:
		return e.Gate + ": 1 finding"
	case e.State == nexus.Fail:
		return fmt.Sprintf("%s: %d findings", e.Gate, len(e.Findings))
	case e.Tree == "":
		return e.Gate + ": the tree has no name"
	case e.Why != "":
		return fmt.Sprintf("%s: %s: %s", e.Gate, e.State, e.Why)
	default:
		return fmt.Sprintf("%s: %s", e.Gate, e.State)
	}
}

// Against weighs what a gate says now against what it said of the base: only
// what got worse counts. Two findings are the same when gate, code, file, test
// and message agree; lines, addresses and durations may differ. Where nothing
// is new the gate has passed, and Why says what was there before.
func Against(base, now nexus.Evidence) nexus.Evidence {
	if base.Gate != now.Gate || base.Tree == "" {
		return now
	}
	switch {
	case now.State == nexus.Environmental && base.State == nexus.Pass && slices.ContainsFunc(now.Findings, ofTheTree):
		now.State, now.Why = nexus.Fail, "the base passes on this machine: "+now.Why
		return now
	case now.State == nexus.NotRun && (base.State == nexus.Pass || base.State == nexus.Fail):
		now.State, now.Why = nexus.Fail, strings.TrimSuffix("it ran before the work began and now it does not: "+now.Why, ": ")
		return now
	case now.State != nexus.Fail || base.State != nexus.Fail:
		return now
	case slices.ContainsFunc(slices.Concat(base.Findings, now.Findings), func(f nexus.Finding) bool { return f.Code == "more" }):
		now.Why = "too many findings to tell which were there before"
		return now
	}
	fresh := worse(base.Findings, now.Findings)
	old := len(now.Findings) - len(fresh)
	switch {
	case len(fresh) > 0 && old > 0:
		now.Why = fmt.Sprintf("%d more findings were there before the work began", old)
	case len(fresh) == 0 && old > 0 && untested(base, now):
		now.State, now.Why = nexus.Unverifiable, "no test could run, neither on the base nor now: "+first(now.Findings)
	case len(fresh) == 0 && old > 0:
		now.State, now.Why = nexus.Pass, fmt.Sprintf("%d findings were there before the work began: %s", old, first(now.Findings))
	}
	now.Findings = fresh
	return now
}

// ofTheTree reports whether an environmental finding is about something that
// the work may have changed.
func ofTheTree(f nexus.Finding) bool { return f.File != "" || f.Code == "exit" }

// untested reports whether tests that were to run did not: what they would
// have said is not known to be the same.
func untested(base, now nexus.Evidence) bool {
	fewer := now.Counts.Passed < base.Counts.Passed && now.Counts.Passed+now.Counts.Failed == 0
	none := base.Counts == (nexus.Counts{}) && now.Counts == (nexus.Counts{}) && strings.Contains(now.Command, "test")
	return fewer || none
}

// worse returns the findings of now that base does not have, each as often as
// it became more frequent.
func worse(base, now []nexus.Finding) []nexus.Finding {
	before := map[nexus.Finding]int{}
	for _, f := range base {
		before[same(f)]++
	}
	var fresh []nexus.Finding
	for _, f := range now {
		if k := same(f); before[k] > 0 {
			before[k]--
			continue
		}
		fresh = append(fresh, f)
	}
	return fresh
}

// same reduces a finding to what tells it from others.
func same(f nexus.Finding) nexus.Finding {
	k := nexus.Finding{Gate: f.Gate, Code: f.Code, File: f.File, Test: f.Test, Message: normal(f.Message)}
	if f.Test != "" {
		k.File, k.Message = "", "" // a test that fails fails; how may depend on the day
	}
	return k
}

// normal takes out of a message what differs from run to run.
func normal(s string) string {
	for _, x := range []struct{ pattern, with string }{
		{`0x[0-9a-fA-F]+`, "0x"},
		{`\b\d+(?:\.\d+)?(?:ns|us|ms|s|m|h)\b`, "0s"},
		{`(\.[A-Za-z]+):\d+(?::\d+)?`, "$1:"},
		{`\bgoroutine \d+\b`, "goroutine"},
		{`/tmp/[^\s:"']+`, "/tmp"},
		{`\s+`, " "},
	} {
		s = regexp.MustCompile(x.pattern).ReplaceAllString(s, x.with)
	}
	return strings.TrimSpace(s)
}

func first(all []nexus.Finding) string {
	if len(all) == 0 {
		return ""
	}
	f := all[0]
	text, _, _ := strings.Cut(f.Message, "\n")
	switch {
	case f.Test != "":
		return f.Test
	case f.File != "":
		return f.File + ": " + text
	default:
		return text
	}
}
