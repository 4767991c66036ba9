package llm

import (
	"bytes"
	"context"
	_ "embed" // the table of traits
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

// traits.json is curated by hand: what families of models take. The first
// row whose pattern fits counts.
//
//go:embed traits.json
var traits []byte

// modelTraits is what a model takes. The zero modelTraits takes nothing special.
type modelTraits struct {
	Match   string   `json:"match"`   // as in [path.Match], of provider/model
	Forces  bool     `json:"forces"`  // takes forced tool use
	Efforts []string `json:"efforts"` // that it takes, from least to most; empty: none may be named
	Caches  bool     `json:"caches"`  // reads what an earlier request began with from a cache, for less
	Note    string   `json:"note,omitzero"`
}

// ModelCapabilities knows what models take.
type ModelCapabilities struct{ rows []modelTraits }

// LoadCapabilities reads the embedded table.
func LoadCapabilities() (ModelCapabilities, error) {
	var a ModelCapabilities
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

// traitsOf returns what is known of a provider/model.
func (a ModelCapabilities) traitsOf(name string) modelTraits {
	for _, t := range a.rows {
		if ok, _ := path.Match(t.Match, name); ok { // patterns were checked
			return t
		}
	}
	return modelTraits{}
}

// FitRequests returns m with every request made to fit its model: the traits are
// those of provider/model. It is the only place that knows what a model
// refuses; one that refuses to be forced, against its traits, is asked again
// without force, and not forced any more.
func (a ModelCapabilities) FitRequests(m Model, provider string) Model {
	return &fittedModel{Model: m, able: a, provider: provider, free: map[string]bool{}}
}

type fittedModel struct {
	Model
	able     ModelCapabilities
	provider string

	mu   sync.Mutex      // guards free
	free map[string]bool // models that refused to be forced
}

// Stream implements [Model].
func (f *fittedModel) Stream(ctx context.Context, r Request, heard func(Delta)) (Response, error) {
	traits := f.able.traitsOf(f.provider + "/" + r.Model)
	f.mu.Lock()
	traits.Forces = traits.Forces && !f.free[r.Model]
	f.mu.Unlock()
	resp, err := f.Model.Stream(ctx, traits.fit(r), heard)
	if e, ok := errors.AsType[*Error](err); !ok || e.Class != Invalid || e.Status != http.StatusBadRequest || r.Force == "" || !traits.Forces {
		return resp, err
	}
	traits.Forces = false
	again, retried := f.Model.Stream(ctx, traits.fit(r), heard) // what was turned down cost nothing
	if e, ok := errors.AsType[*Error](retried); ok && e.Class == Invalid {
		return resp, err // it was something else
	}
	f.mu.Lock()
	f.free[r.Model] = true
	f.mu.Unlock()
	return again, retried
}

// fit asks in words for the call that a model cannot be forced to make, and
// for the nearest effort that it knows.
func (t modelTraits) fit(r Request) Request {
	if r.Force != "" && !t.Forces {
		r = forceInWords(r)
	}
	r.Effort = t.effort(r.Effort)
	return r
}

// forceInWords puts the force of a request into words. They are at the end of the
// system prompt: a conversation that is forced is so from its beginning to its
// end, so that each request extends the one before, and siblings begin alike.
func forceInWords(r Request) Request {
	words := "Answer by calling the tool " + r.Force + ", and with nothing else."
	if r.Force == AnyTool {
		words = "Each of your answers calls at least one of your tools."
	}
	r.Force, r.System = "", strings.TrimSpace(strings.TrimRight(r.System, "\n")+"\n\n"+words)+"\n"
	return r
}

// Efforts returns how hard a model may be asked to think, from least to most.
func Efforts() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

// effort returns the effort that the model takes instead of e: the next one
// down, else the least.
func (t modelTraits) effort(e string) string {
	scale := Efforts()
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
