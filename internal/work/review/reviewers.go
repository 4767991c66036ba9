package review

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"golang.org/x/sync/errgroup"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

//go:embed personas.yaml
var builtinPersonas []byte

const (
	// PartBytes limits the diff for one reader.
	PartBytes = 50_000
	// MaxParts limits the parts of a change that is reviewed at all.
	MaxParts = 40

	parallelReviewers = 4 // readers in parallel
)

// ReviewPersona is a reader with one focus. The zero Persona looks for everything.
type ReviewPersona struct {
	Name       string   `yaml:"name"`
	Charge     string   `yaml:"charge"`     // its instructions
	Categories []string `yaml:"categories"` // its topics

	// the repository's own role with its prompt and tools; empty: the reviewer
	Role nexus.Role `yaml:"-"`
}

// BuiltinPersonas returns all built-in personas.
func BuiltinPersonas() []ReviewPersona {
	var all []ReviewPersona
	if yaml.Unmarshal(builtinPersonas, &all) != nil { // a test parses it
		return nil
	}
	return all
}

// PersonasNamed returns the personas with these names, and one that looks for everything if
// names is empty.
func PersonasNamed(names []string) ([]ReviewPersona, error) {
	if len(names) == 0 {
		return []ReviewPersona{{}}, nil
	}
	known := BuiltinPersonas()
	var all []ReviewPersona
	for _, n := range names {
		i := slices.IndexFunc(known, func(p ReviewPersona) bool { return p.Name == n })
		if i < 0 {
			return nil, fmt.Errorf("there is no persona %q", n)
		}
		if !slices.ContainsFunc(all, func(p ReviewPersona) bool { return p.Name == n }) {
			all = append(all, known[i])
		}
	}
	return all, nil
}

// DiffReviewer is one reader of one part.
type DiffReviewer struct {
	ReviewPersona
	Part, Parts int // number of the part from 1, and number of parts; 0 if there is only one
	Diff        string
}

// AssignReviewers returns the readers of a diff with their parts. A diff of too many parts has none:
// reading a part of it would be no review.
func AssignReviewers(people []ReviewPersona, diff string) []DiffReviewer {
	parts := CutDiff(diff, PartBytes)
	if len(parts) > MaxParts {
		return nil
	}
	var all []DiffReviewer
	for i, part := range parts {
		for _, p := range people {
			s := DiffReviewer{ReviewPersona: p, Diff: part}
			if len(parts) > 1 {
				s.Part, s.Parts = i+1, len(parts)
			}
			all = append(all, s)
		}
	}
	return all
}

// SessionID returns the ID of the reader's conversation in the n-th review of an attempt.
func (s DiffReviewer) SessionID(of nexus.AttemptID, n int) nexus.SessionID {
	id := fmt.Sprintf("%s/%s.%d", of, nexus.Reviewer, n)
	if s.Name != "" {
		id += "-" + s.Name
	}
	if s.Part > 0 {
		id += fmt.Sprintf("-%d", s.Part)
	}
	return nexus.SessionID(id)
}

// IsReviewer reports whether r is this reader.
func (s DiffReviewer) IsReviewer(r nexus.ChangeReviewer) bool {
	return r.Persona == s.Name && r.Part == s.Part && r.Parts == s.Parts
}

// PartInstruction returns the reader's instructions about its part; "" for one who reads everything for
// everything.
func (s DiffReviewer) PartInstruction() string {
	var b strings.Builder
	if s.Charge != "" {
		fmt.Fprintf(&b, "Other reviewers read this change for other kinds of problems. You are the reviewer for %s. %s Use the categories %s.\n",
			s.Name, strings.TrimSpace(s.Charge), strings.Join(s.Categories, ", "))
	}
	if s.Part > 0 {
		fmt.Fprintf(&b, "The change is large, so it is split into %d parts, and each part is reviewed separately. Below is part %d: report on this part only. "+
			"The files that you can read contain the whole change.\n", s.Parts, s.Part)
	}
	return b.String()
}

// RunReviewers lets every reader read, some in parallel, and merges their opinions into one review.
// An error means that a reader could not even start; it ends the others.
func RunReviewers(ctx context.Context, seats []DiffReviewer, majors int, read func(context.Context, DiffReviewer) (ReviewerOpinion, error)) (nexus.ReviewerVerdictGiven, error) {
	all := make([]ReviewerOpinion, len(seats))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallelReviewers)
	for i, s := range seats {
		g.Go(func() (err error) {
			all[i], err = read(ctx, s)
			all[i].Reader.Persona, all[i].Reader.Part, all[i].Reader.Parts = s.Name, s.Part, s.Parts
			for n := range all[i].Given.Findings {
				if f := &all[i].Given.Findings[n]; f.Category == "" && len(s.Categories) > 0 {
					f.Category = s.Categories[0]
				}
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nexus.ReviewerVerdictGiven{}, err
	}
	return MergeReviews(all, majors), nil
}
