package page

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/commandjson"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// ItemAction is a possible action on the shown item.
type ItemAction = projection.PersonAction

// ActionResult is the result of a person's action.
type ActionResult struct {
	Text string
	Bad  bool
	at   time.Time
}

// recentActionResults store the results of recent actions, for the pages that follow them.
type recentActionResults struct {
	mu  sync.Mutex
	all map[string]ActionResult
}

// shown is how long a page shows the result of an action.
const shown = 30 * time.Second

func (n *recentActionResults) storeResult(s ActionResult) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil {
		n.all = map[string]ActionResult{}
	}
	for id, old := range n.all {
		if s.at.Sub(old.at) > shown {
			delete(n.all, id)
		}
	}
	id := rand.Text()[:12]
	n.all[id] = s
	return id
}

func (n *recentActionResults) resultByID(id string, now time.Time) ActionResult {
	n.mu.Lock()
	defer n.mu.Unlock()
	s, ok := n.all[id]
	if !ok || now.Sub(s.at) > shown {
		return ActionResult{}
	}
	return s
}

// readForm reads a form, and refuses an invalid one.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, bool) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // an unreadable type is not a form
	err := r.ParseForm()
	if _, more := io.Copy(io.Discard, r.Body); err == nil {
		err = more
	}
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		access.RefuseRequest(w, r, http.StatusRequestEntityTooLarge, access.ProblemError{
			Code: access.CodeTooLarge, Message: fmt.Sprintf("the form is larger than %d bytes", large.Limit), Hint: "Write less at a time.",
		})
		return nil, false
	}
	if err != nil || kind != "application/x-www-form-urlencoded" {
		access.RefuseRequest(w, r, http.StatusUnsupportedMediaType, access.ProblemError{
			Code: "invalid_input", Message: "this address takes a form", Hint: "Programs use /api/v1; see /api/v1/openapi.json.",
		})
		return nil, false
	}
	return r.PostForm, true
}

// handleActionForm does the action of a form, and returns to the page that it came from. A form only names an
// action; the projection determines its current command.
func (s *PageHandlers) handleActionForm(w http.ResponseWriter, r *http.Request) {
	f, ok := readForm(w, r)
	if !ok {
		return
	}
	said := ActionResult{at: s.Now()}
	a, err := s.findOfferedAction(nexus.RunID(f.Get("run")), f.Get("of"), f.Get("do"), f.Get("label"))
	if err == nil && a.Refused != "" {
		err = fmt.Errorf("%s: %s", a.Label, a.Refused)
	}
	if err == nil && a.Input == projection.InputText && strings.TrimSpace(f.Get("input")) == "" {
		err = fmt.Errorf("%s: write %s", a.Label, cmp.Or(a.Ask, "a text"))
	}
	if err != nil {
		said.Text, said.Bad = err.Error(), true
	} else {
		args := make([]string, len(a.Args))
		for i, arg := range a.Args {
			args[i] = arg
			if arg == "{}" {
				args[i] = f.Get("input")
			}
		}
		result := s.runCommand(r.Context(), args...)
		said.Text, said.Bad = strings.TrimSpace(result.Text), result.Failed()
		if result.Hint != "" {
			said.Text += "\n" + result.Hint
		}
		if said.Text == "" {
			said.Text = a.Label + ": done"
		}
	}
	http.Redirect(w, r, s.returnURL(f.Get("back"), s.said.storeResult(said)), http.StatusSeeOther)
}

// returnURL returns the address of a page of this server with the result of an action.
func (s *PageHandlers) returnURL(to, said string) string {
	u, err := url.Parse(to)
	own := err == nil && u.Host == "" && u.Scheme == "" && strings.HasPrefix(u.Path, "/")
	if !own || strings.HasPrefix(u.Path, "//") || strings.Contains(u.Path, `\`) {
		u = &url.URL{Path: "/"}
	}
	q := u.Query()
	q.Set("said", said)
	return (&url.URL{Path: u.Path, RawQuery: q.Encode()}).String()
}

// findOfferedAction returns an action by its name and label: of a run, of a task or an item in it, or of a
// memory entry.
func (s *PageHandlers) findOfferedAction(run nexus.RunID, of, do, label string) (ItemAction, error) {
	var all []ItemAction
	if run == "" {
		all = MemoryEntryRow{commandjson.MemoryListEntry{ID: of, State: "proposed"}}.entryActions()
	} else if err := s.Hub.WithProjection(run, func(p *projection.RunProjection) error {
		if of == "" {
			all = p.RunActions()
			return nil
		}
		all = append(p.ItemActions(of, s.Now()), p.TaskActions(nexus.TaskID(of))...)
		return nil
	}); err != nil {
		return ItemAction{}, err
	}
	for _, a := range all {
		if a.Name == do && a.Label == label {
			return a, nil
		}
	}
	return ItemAction{}, fmt.Errorf("%s: this no longer waits for an answer", cmp.Or(label, do))
}

// streamChanges notifies a page of changes, at most three times a second: the page then reloads its
// content. Changes while it was disconnected count as one more change, so nothing is missed or
// shown twice.
func (s *PageHandlers) streamChanges(w http.ResponseWriter, r *http.Request) {
	run := nexus.RunID(r.URL.Query().Get("run"))
	// A missing or invalid number is 0: the page has seen nothing.
	after, _ := strconv.ParseInt(cmp.Or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")), 10, 64)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	send := func(text string) bool {
		most := time.Now().Add(10 * time.Second) //nolint:forbidigo // a deadline of a socket is of the real clock
		if err := out.SetWriteDeadline(most); err != nil {
			return false
		}
		_, err := w.Write([]byte(text))
		return err == nil && out.Flush() == nil
	}
	pause := func(d time.Duration, or <-chan struct{}) bool {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-or:
		case <-r.Context().Done():
			return false
		}
		return true
	}
	if !send("retry: 1000\n\n") {
		return
	}
	for {
		changed := s.Hub.Changed(run)
		seq := after
		if run != "" {
			if err := s.Hub.WithProjection(run, func(p *projection.RunProjection) error { seq = p.LastSeq(); return nil }); err != nil {
				return
			}
		} else {
			seq++
		}
		if seq != after && !send(fmt.Sprintf("id: %d\nevent: changed\ndata: %d\n\n", seq, seq)) {
			return
		}
		after = seq
		if !pause(300*time.Millisecond, nil) || !pause(15*time.Second, changed) {
			return
		}
		if run != "" {
			after-- // time passes even without events
		}
	}
}
