package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/gosrc"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse/raw"
)

// Pass lets the gates judge a tree in their order and stops at the first red
// one. Evidence that known has for this very tree, command and toolchain is
// taken over. The verdict has passed when every gate has; a gate that did not
// run is red too, unless it did not run on the base either.
func (r Runner) Pass(ctx context.Context, t Tree, gates []Gate, known func(tree, gate string) (nexus.Evidence, bool)) (nexus.Verdict, error) {
	v := nexus.Verdict{Tree: t.Hash}
	green := 0
	r.skipped = &[]Gate{}
	for _, g := range gates {
		e, base, cached, err := r.weigh(ctx, t, g, known)
		if err != nil {
			return nexus.Verdict{Tree: t.Hash}, err
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
		case e.State == nexus.NotRun && (base.State == nexus.NotRun || lacks(base)) && base.Tree != "":
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

// lacks reports whether a gate could not run because its tool is missing.
func lacks(e nexus.Evidence) bool {
	return e.State == nexus.Environmental && slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.Code == raw.CodeMissing })
}

// Weigh judges a tree by one gate, against the base where there is one.
func (r Runner) Weigh(ctx context.Context, t Tree, g Gate) (nexus.Evidence, error) {
	e, _, _, err := r.weigh(ctx, t, g, nil)
	return e, err
}

// weigh judges a tree by a gate, against what the gate said of the base.
func (r Runner) weigh(ctx context.Context, t Tree, g Gate, known func(tree, gate string) (nexus.Evidence, bool)) (e, base nexus.Evidence, cached bool, err error) {
	if r.Base != nil {
		base, _ = r.Base(g.Name)
	}
	raw, cached, err := r.once(ctx, t, g, base.Tree, known)
	if err != nil {
		return e, base, false, err
	}
	if f, ok := parse.Find(g.Format); ok && f.Warns {
		raw.Findings = blocking(raw)
	}
	e = against(base, raw, r.Wanted)
	if !cached && e.State == nexus.Fail {
		if raw, err = r.doubt(ctx, t, g, base, raw); err != nil {
			return e, base, false, err
		}
		e = against(base, raw, r.Wanted)
	}
	if !cached && e.Passed() {
		lies, err := r.probe(ctx, t, g, raw)
		if err != nil {
			return e, base, false, err
		}
		if len(lies) > 0 {
			raw.State, raw.Findings = nexus.Fail, append(slices.Clone(raw.Findings), lies...)
			e = against(base, raw, r.Wanted)
		}
	}
	if e.State == raw.State && e.Why == raw.Why && len(e.Findings) == len(raw.Findings) {
		return e, base, cached, nil
	}
	e.Base = base.Tree
	e.Raw, err = r.seal(raw)
	return e, base, cached, err
}

// blocking returns what is more than a warning among the findings of a gate
// that is red for more than warnings: of a tool that lets warnings pass, new
// ones are not held against a tree that has old errors.
func blocking(e nexus.Evidence) []nexus.Finding {
	if e.State != nexus.Fail || !slices.ContainsFunc(e.Findings, raw.Blocks) {
		return e.Findings
	}
	return slices.DeleteFunc(slices.Clone(e.Findings), func(f nexus.Finding) bool { return !raw.Blocks(f) })
}

// seal keeps evidence as it was before it was weighed, and returns the blob's
// name, empty where it is of no use later.
func (r Runner) seal(raw nexus.Evidence) (string, error) {
	if r.Put == nil || !plain(raw) {
		return "", nil
	}
	data, err := json.Marshal(raw)
	if err != nil {
		return "", fmt.Errorf("gate %s: keep the evidence: %w", raw.Gate, err)
	}
	return r.Put(data)
}

// plain reports whether evidence holds for its tree at any time and against
// any base: the other states may be different next time.
func plain(e nexus.Evidence) bool {
	return (e.State == nexus.Pass || e.State == nexus.Fail) && e.Why == "" && e.Raw == "" && e.Base == ""
}

// once returns what is known of a gate on a tree, or runs it. What was weighed
// against a base is taken over as it was before that.
func (r Runner) once(ctx context.Context, t Tree, g Gate, base string, known func(tree, gate string) (nexus.Evidence, bool)) (e nexus.Evidence, cached bool, err error) {
	if known != nil {
		old, ok := known(t.Hash, g.Name)
		if raw, usable := Plain(old, r.Get); ok && usable && r.Fits(ctx, t, g, raw) {
			if old.Base != base {
				raw.Unsure = nil // that was found against another base
			}
			r.skip(g)
			return raw, true, nil
		}
	}
	if err := r.repeat(ctx, t, g); err != nil {
		return e, false, err
	}
	e, err = r.Judge(ctx, t, g)
	return e, false, err
}

func (r Runner) skip(g Gate) {
	if r.skipped != nil && !bare(g) {
		*r.skipped = append(*r.skipped, g)
	}
}

// repeat runs the project's own commands that came before one and were not
// run in this pass: it may need what they leave.
func (r Runner) repeat(ctx context.Context, t Tree, g Gate) error {
	if r.skipped == nil || bare(g) {
		return nil
	}
	for _, s := range *r.skipped {
		if _, _, err := r.run(ctx, t, s, r.limit(s)); err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			return err
		}
	}
	*r.skipped = nil
	return nil
}

// Plain returns evidence as it was before it was weighed against a base, and
// false where that is not known or may be different next time.
func Plain(e nexus.Evidence, get func(hash string) ([]byte, error)) (nexus.Evidence, bool) {
	if e.Raw == "" || get == nil {
		return e, plain(e)
	}
	data, err := get(e.Raw)
	var raw nexus.Evidence
	if err != nil || json.Unmarshal(data, &raw) != nil || raw.Tree != e.Tree || raw.Gate != e.Gate || raw.Command != e.Command || raw.Toolchain != e.Toolchain {
		return e, false
	}
	return raw, plain(raw)
}

// Fits reports whether evidence is what a gate with this command and these
// tools said about this very tree.
func (r Runner) Fits(ctx context.Context, t Tree, g Gate, e nexus.Evidence) bool {
	now := r.blank(ctx, t, g)
	return e.Tree == now.Tree && e.Tree != "" && e.Gate == now.Gate && e.Command == now.Command && e.Toolchain == now.Toolchain
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
func Against(base, now nexus.Evidence) nexus.Evidence { return against(base, now, nil) }

// against is [Against], where the tests that one of the texts names are held
// to it whatever they were on the base.
func against(base, now nexus.Evidence, wants []string) nexus.Evidence {
	if base.Gate != now.Gate || base.Tree == "" {
		base = nexus.Evidence{} // nothing was there before
	}
	switch {
	case lacks(now) && lacks(base): // nobody can hold that against the work
		now.State = nexus.NotRun
		return now
	case now.State == nexus.Environmental && base.State == nexus.Pass && slices.ContainsFunc(now.Findings, ofTheTree):
		now.State, now.Why = nexus.Fail, "the base passes on this machine: "+now.Why
		return now
	case now.State == nexus.NotRun && (base.State == nexus.Pass || base.State == nexus.Fail):
		now.State, now.Why = nexus.Fail, strings.TrimSuffix("it ran before the work began and now it does not: "+now.Why, ": ")
		return now
	case now.State != nexus.Fail || base.State != nexus.Fail && len(now.Flaky) == 0:
		return now
	case slices.ContainsFunc(slices.Concat(base.Findings, now.Findings), func(f nexus.Finding) bool { return f.Code == "more" }):
		now.Why = "too many findings to tell which were there before"
		return now
	}
	w := weighed(base, now, wants)
	var why []string
	if n := len(w.flaky); n > 0 {
		why = append(why, fmt.Sprintf("flaky: %s", strings.Join(w.flaky, ", ")))
	}
	switch {
	case len(w.fresh) > 0 && w.old > 0:
		why = append(why, fmt.Sprintf("%d more findings were there before the work began", w.old))
	case len(w.fresh) == 0 && w.old > 0 && untested(base, now):
		now.State, why = nexus.Unverifiable, []string{"no test could run, neither on the base nor now: " + first(now.Findings)}
	case len(w.fresh) == 0 && w.old > 0:
		now.State = nexus.Pass
		why = append(why, fmt.Sprintf("%d findings were there before the work began: %s", w.old, first(now.Findings)))
	case len(w.fresh) == 0 && len(w.flaky) > 0:
		now.State = nexus.Pass
	}
	if len(why) > 0 {
		now.Why = strings.Join(why, "; ")
	}
	now.Findings = w.fresh
	return now
}

// ofTheTree reports whether an environmental finding is about something that
// the work may have changed.
func ofTheTree(f nexus.Finding) bool {
	return f.File != "" || f.Code == raw.CodeExit || f.Code == raw.CodeMissing
}

// untested reports whether tests that were to run did not: what they would
// have said is not known to be the same.
func untested(base, now nexus.Evidence) bool {
	fewer := now.Counts.Passed < base.Counts.Passed && now.Counts.Passed+now.Counts.Failed == 0
	none := base.Counts == (nexus.Counts{}) && now.Counts == (nexus.Counts{}) && strings.Contains(now.Command, "test")
	return fewer || none
}

// weight is what findings come to against those of a base.
type weight struct {
	fresh []nexus.Finding
	old   int
	flaky []string
}

// weighed sorts findings into those that the base does not have, each as often
// as it became more frequent, those that it has, and those of flaky tests.
func weighed(base, now nexus.Evidence, wants []string) weight {
	_, told := gosrc.ParseTest(strings.Fields(now.Command)) // what its tests say can be compared
	before := map[nexus.Finding][]nexus.Finding{}
	for _, f := range base.Findings {
		before[same(f)] = append(before[same(f)], f)
	}
	var w weight
	for _, f := range now.Findings {
		k := same(f)
		i := slices.IndexFunc(now.Flaky, func(x nexus.Flake) bool { return x.Test == f.Test })
		switch {
		case f.Test != "" && wanted(f.Test, wants):
			w.fresh = append(w.fresh, f)
		case f.Test != "" && i >= 0:
			w.flaky = append(w.flaky, fmt.Sprintf("%s failed in %d of %d runs", f.Test, now.Flaky[i].Failed, now.Flaky[i].Runs))
		case f.Test != "" && slices.Contains(now.Unsure, f.Test):
			w.old++
		case len(before[k]) > 0 && (f.Test == "" || !told || !otherwise(before[k][0], f)):
			before[k] = before[k][1:]
			w.old++
		default:
			w.fresh = append(w.fresh, f)
		}
	}
	return w
}

// otherwise reports whether a test that failed before fails for something
// that it did not say then.
func otherwise(base, now nexus.Finding) bool {
	was, all := saidBy(base)
	is, _ := saidBy(now)
	return all && len(is.minus(was)) > 0
}

// same reduces a finding to what tells it from others. A test that fails
// fails, whatever it says; see [otherwise].
func same(f nexus.Finding) nexus.Finding {
	k := nexus.Finding{Gate: f.Gate, Code: f.Code, File: f.File, Test: f.Test, Message: normal(f.Message)}
	if f.Test != "" {
		k.File, k.Message = "", ""
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
