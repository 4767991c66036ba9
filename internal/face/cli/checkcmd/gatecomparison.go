package checkcmd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// gateComparison compares a gate's result on a tree with the recorded result of a run.
type gateComparison struct {
	Gate     string      `json:"gate"`
	Recorded bool        `json:"recorded"`
	Run      nexus.RunID `json:"run,omitzero"`
	Same     bool        `json:"same"`
	Differs  []string    `json:"differs,omitempty"` // differing parts: command, toolchain, state, counts, findings
}

// String formats it in one line.
func (c gateComparison) String() string {
	switch {
	case !c.Recorded:
		return c.Gate + ": no run recorded a result for this tree"
	case c.Same:
		return fmt.Sprintf("%s: the same as run %s recorded", c.Gate, c.Run)
	default:
		return fmt.Sprintf("%s: not as run %s recorded: %s", c.Gate, c.Run, strings.Join(c.Differs, "; "))
	}
}

// pastRecord is recorded evidence of a run, before its comparison with a base.
type pastRecord struct {
	Run      nexus.RunID
	Evidence nexus.GateEvidence
}

// pastRecords returns the last recorded evidence of a tree, by gate.
func pastRecords(ctx context.Context, p *app.Repository, tree string) (map[string]pastRecord, error) {
	all := map[string]pastRecord{}
	if p.Journal == nil {
		return all, nil
	}
	blobs, err := p.OpenBlobStore()
	if err != nil {
		return nil, err
	}
	runs, err := p.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		for ev, err := range p.Journal.Events(ctx, run.ID, 0) {
			if err != nil {
				return nil, err
			}
			f, ok := ev.Fact.(nexus.GateJudged)
			if !ok || f.Evidence.Tree != tree {
				continue
			}
			e := f.Evidence
			if plain, ok := gate.RawEvidence(e, blobs.Get); ok {
				e = plain
			}
			all[e.Gate] = pastRecord{run.ID, e}
		}
	}
	return all, nil
}

// compareToPast compares a gate's evidence with the recorded evidence.
func compareToPast(old map[string]pastRecord, now nexus.GateEvidence) gateComparison {
	was, ok := old[now.Gate]
	c := gateComparison{Gate: now.Gate, Recorded: ok, Run: was.Run}
	if !ok {
		return c
	}
	differs := func(what, a, b string) {
		if a != b {
			c.Differs = append(c.Differs, fmt.Sprintf("%s %s, now %s", what, cmp.Or(a, "none"), cmp.Or(b, "none")))
		}
	}
	tools := func(e nexus.GateEvidence) string { s, _, _ := strings.Cut(e.Toolchain, "; environment "); return s }
	differs("command", was.Evidence.Command, now.Command)
	differs("toolchain", tools(was.Evidence), tools(now))
	differs("state", string(was.Evidence.State), string(now.State))
	differs("counts", fmt.Sprintf("%d/%d/%d", was.Evidence.Counts.Passed, was.Evidence.Counts.Failed, was.Evidence.Counts.Skipped), fmt.Sprintf("%d/%d/%d", now.Counts.Passed, now.Counts.Failed, now.Counts.Skipped))
	differs("findings", recordedPlaces(was.Evidence), recordedPlaces(now))
	c.Same = len(c.Differs) == 0
	return c
}

// recordedPlaces lists the locations of a gate's findings, without parts that differ between
// runs.
func recordedPlaces(e nexus.GateEvidence) string {
	var all []string
	for _, f := range e.Findings {
		all = append(all, fmt.Sprintf("%s:%d %s", f.File, f.Line, cmp.Or(f.Test, f.Code)))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
