package traceability

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// specBuilder builds a spec from parts of others.
type specBuilder struct {
	spec.Spec

	used map[string]bool // used ids
}

// addSpec adds the missing parts of a spec, with its notes.
func (w *specBuilder) addSpec(name, text string, missingParts []MilestonePart) {
	of, _ := spec.ReadSpec([]byte(text))
	missing := func(id string) bool {
		return slices.ContainsFunc(missingParts, func(one MilestonePart) bool { return one.spec == name && one.id == id })
	}
	planned := of.FirstVersionRequirements()
	now := map[string]string{} // ids of the requirements in the new spec
	take := func(id string) string {
		i := slices.IndexFunc(planned, func(q nexus.Requirement) bool { return q.ID == id })
		if _, has := now[id]; !has && i >= 0 {
			now[id] = w.addRequirement(planned[i])
		}
		return now[id]
	}
	for _, q := range of.Requirements {
		if missing(q.ID) {
			take(q.ID)
		}
	}
	for _, c := range of.Criteria {
		if !missing(c.ID) {
			continue
		}
		ids := c.Of
		if len(ids) == 0 {
			for _, q := range planned {
				ids = append(ids, q.ID)
			}
		}
		c.Of = nil
		for _, id := range ids {
			if to := take(id); to != "" {
				c.Of = append(c.Of, to)
			}
		}
		w.addCriterion(c)
	}
	if len(now) == 0 {
		return
	}
	for _, one := range of.Assumptions {
		one.ID = w.freeID("A", one.ID)
		w.Assumptions = append(w.Assumptions, one)
	}
	w.Notes, w.OutOfScope = append(w.Notes, of.Notes...), append(w.OutOfScope, of.OutOfScope...)
}

// addRequirement adds a requirement, unless one has the same text, and returns its id.
func (w *specBuilder) addRequirement(q nexus.Requirement) string {
	for _, has := range w.Requirements {
		if spec.SingleLine(has.Text) == spec.SingleLine(q.Text) {
			return has.ID
		}
	}
	q.ID, q.Later = w.freeID("REQ", q.ID), false
	w.Requirements = append(w.Requirements, q)
	return q.ID
}

func (w *specBuilder) addCriterion(c spec.SpecCriterion) {
	c.ID = w.freeID("AC", c.ID)
	w.Criteria = append(w.Criteria, c)
}

// freeID returns an unused id, if possible the wanted one.
func (w *specBuilder) freeID(prefix, id string) string {
	for n := 1; id == "" || w.used[strings.ToUpper(id)]; n++ {
		id = fmt.Sprintf("%s-%d", prefix, n)
	}
	w.used[strings.ToUpper(id)] = true
	return id
}
