package llm

import (
	"bytes"
	"context"
	_ "embed" // the table of traits
	"encoding/json"
	"fmt"
	"path"
	"slices"
)

// traits.json is curated by hand: what families of models take. The first
// row whose pattern fits counts.
//
//go:embed traits.json
var traits []byte

// Traits is what a model takes. The zero Traits takes nothing special.
type Traits struct {
	Match   string   `json:"match"`   // as in [path.Match], of provider/model
	Forces  bool     `json:"forces"`  // takes forced tool use
	Efforts []string `json:"efforts"` // that it takes, from least to most; empty: none may be named
	Caches  bool     `json:"caches"`  // reads what an earlier request began with from a cache, for less
	Note    string   `json:"note,omitzero"`
}

// Able knows what models take.
type Able struct{ rows []Traits }

// LoadAble reads the embedded table.
func LoadAble() (Able, error) {
	var a Able
	d := json.NewDecoder(bytes.NewReader(traits))
	d.DisallowUnknownFields()
	if err := d.Decode(&a.rows); err != nil {
		return a, fmt.Errorf("table of traits: %w", err)
	}
	for _, t := range a.rows {
		if _, err := path.Match(t.Match, ""); err != nil || t.Match == "" {
			return a, fmt.Errorf("table of traits: %q is not a pattern", t.Match)
		}
	}
	return a, nil
}

// Traits returns what is known of a provider/model.
func (a Able) Traits(name string) Traits {
	for _, t := range a.rows {
		if ok, _ := path.Match(t.Match, name); ok { // patterns were checked
			return t
		}
	}
	return Traits{}
}

// Fit returns m with every request made to fit its model: the traits are
// those of provider/model. It is the only place that knows what a model
// refuses.
func (a Able) Fit(m Model, provider string) Model { return fitted{m, a, provider} }

type fitted struct {
	Model
	able     Able
	provider string
}

// Stream implements [Model].
func (f fitted) Stream(ctx context.Context, r Request, heard func(Delta)) (Response, error) {
	return f.Model.Stream(ctx, f.able.Traits(f.provider+"/"+r.Model).fit(r), heard)
}

// fit asks in words for the call that a model cannot be forced to make, and
// for the nearest effort that it knows.
func (t Traits) fit(r Request) Request {
	if r.Force != "" && !t.Forces {
		r = plead(r)
	}
	r.Effort = t.effort(r.Effort)
	return r
}

// plead puts the force of a request into words, at its end so that what comes
// before stays in the provider's cache.
func plead(r Request) Request {
	words := "Answer with a call of the tool " + r.Force + ", and with nothing else."
	if r.Force == AnyTool {
		words = "Answer with a call of one of your tools, and with nothing else."
	}
	r.Force = ""
	n := len(r.Messages)
	if n == 0 || r.Messages[n-1].From != User {
		return r
	}
	last := r.Messages[n-1]
	last.Parts = append(slices.Clone(last.Parts), Part{Text: words})
	r.Messages = append(slices.Clone(r.Messages[:n-1]), last)
	return r
}

// effort returns the effort that the model takes instead of e: the next one
// down, else the least.
func (t Traits) effort(e string) string {
	scale := []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
	at := slices.Index(scale, e)
	if e == "" || len(t.Efforts) == 0 || at < 0 {
		return ""
	}
	for ; at >= 0; at-- {
		if slices.Contains(t.Efforts, scale[at]) {
			return scale[at]
		}
	}
	return t.Efforts[0]
}
