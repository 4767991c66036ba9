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

// traitsJSON.json lists the capabilities of model families, and is maintained by hand. The first row
// whose pattern matches counts.
//
//go:embed traits.json
var traitsJSON []byte

// modelCapabilityRow holds the capabilities of a model. The zero modelCapabilityRow has no special ones.
type modelCapabilityRow struct {
	Match   string   `json:"match"`   // as in [path.Match], of provider/model
	Forces  bool     `json:"forces"`  // supports forced tool use
	Efforts []string `json:"efforts"` // supported values, ascending; empty: none may be sent
	Caches  bool     `json:"caches"`  // reads the common beginning of requests from a cache, for a lower price
	Note    string   `json:"note,omitzero"`
}

// ModelCapabilityTable has the capabilities of all models.
type ModelCapabilityTable struct{ rows []modelCapabilityRow }

// LoadCapabilities reads the embedded table.
func LoadCapabilities() (ModelCapabilityTable, error) {
	var a ModelCapabilityTable
	d := json.NewDecoder(bytes.NewReader(traitsJSON))
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

// traitsOf returns the traits of a provider/model.
func (a ModelCapabilityTable) traitsOf(name string) modelCapabilityRow {
	for _, t := range a.rows {
		if ok, _ := path.Match(t.Match, name); ok { // patterns were checked
			return t
		}
	}
	return modelCapabilityRow{}
}

// FitRequests returns m with every request adapted to its model: the traits are those of
// provider/model. It is the only place that knows the requests that a model refuses. A model that
// refuses forced tool use, against its traits, is called again without it, and never forced again.
func (a ModelCapabilityTable) FitRequests(m Model, provider string) Model {
	return &requestFittingModel{Model: m, able: a, provider: provider, free: map[string]bool{}}
}

type requestFittingModel struct {
	Model
	able     ModelCapabilityTable
	provider string

	mu   sync.Mutex      // guards free
	free map[string]bool // models that refused forced tool use
}

// Stream implements [Model].
func (f *requestFittingModel) Stream(ctx context.Context, r Request, heard func(AnswerDelta)) (Response, error) {
	traits := f.able.traitsOf(f.provider + "/" + r.Model)
	f.mu.Lock()
	traits.Forces = traits.Forces && !f.free[r.Model]
	f.mu.Unlock()
	resp, err := f.Model.Stream(ctx, traits.fitRequest(r), heard)
	if e, ok := errors.AsType[*ModelCallError](err); !ok || e.Class != Invalid || e.Status != http.StatusBadRequest || r.Force == "" || !traits.Forces {
		return resp, err
	}
	traits.Forces = false
	again, retried := f.Model.Stream(ctx, traits.fitRequest(r), heard) // the refused call cost nothing
	if e, ok := errors.AsType[*ModelCallError](retried); ok && e.Class == Invalid {
		return resp, err // the failure has another reason
	}
	f.mu.Lock()
	f.free[r.Model] = true
	f.mu.Unlock()
	return again, retried
}

// fitRequest replaces forced tool use by an instruction if the model does not support it, and the effort
// by the nearest one that it supports.
func (t modelCapabilityRow) fitRequest(r Request) Request {
	if r.Force != "" && !t.Forces {
		r = forceByInstruction(r)
	}
	r.Effort = t.nearestEffort(r.Effort)
	return r
}

// forceByInstruction replaces the forced tool use of a request by an instruction at the end of the
// system prompt. A conversation is forced from its beginning to its end, so each request still
// extends the one before, and siblings begin alike.
func forceByInstruction(r Request) Request {
	words := "Answer by calling the tool " + r.Force + ", and with nothing else."
	if r.Force == AnyTool {
		words = "Each of your answers calls at least one of your tools."
	}
	r.Force, r.System = "", strings.TrimSpace(strings.TrimRight(r.System, "\n")+"\n\n"+words)+"\n"
	return r
}

// EffortLevels returns the reasoning efforts, in ascending order.
func EffortLevels() []string {
	return []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}
}

// nearestEffort returns the effort to use instead of e: the next lower one that the model supports, else
// its lowest.
func (t modelCapabilityRow) nearestEffort(e string) string {
	scale := EffortLevels()
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
