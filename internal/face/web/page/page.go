// Package page draws the screens of the web server: the inbox, and each run as board, graph,
// timeline, checks, money, plan and log, with every task, its change and its agents' transcripts.
//
// Screens are templ components over the values of the projection. All resources are embedded, and
// no script or style is inline. Links and forms are enough for everything; the scripts make it
// live and faster. Scripts and style are bundled from src by make generate.
package page

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/face/web/gatererun"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

//go:embed static
var static embed.FS

// PageHandlers provides the data of the pages.
type PageHandlers struct {
	access.WebBackend

	said  recentActionResults
	gates *gatererun.GateReruns
	sums  map[string]string // hashes of the embedded files, so that a browser may cache them
}

// screenDrawFunc draws a page.
type screenDrawFunc func(r *http.Request) (templ.Component, error)

// NewPages returns the pages of a site, which rerun gates through gates.
func NewPages(site access.WebBackend, gates *gatererun.GateReruns) *PageHandlers {
	return &PageHandlers{WebBackend: site, gates: gates, sums: assetHashes()}
}

// Routes returns all screens, their parts and resources.
func (s *PageHandlers) Routes() []access.ServerRoute {
	var all []access.ServerRoute
	add := func(pattern string, draw screenDrawFunc) {
		all = append(all, access.ServerRoute{Method: http.MethodGet, Pattern: pattern, Role: access.Read, Handler: s.screenHandler(draw)})
	}
	add("/{$}", s.inboxPage)
	add("/runs", s.runsPage)
	add("/memory", s.memoryPage)
	add("/settings", s.settingsPage)
	add("/doctor", s.doctorPage)
	add("/r/{run}/{$}", s.boardPage)
	add("/r/{run}/inbox", s.inboxPage)
	add("/r/{run}/graph", s.graphPage)
	add("/r/{run}/timeline", s.timelinePage)
	add("/r/{run}/checks", s.checksPage)
	add("/r/{run}/cost", s.costPage)
	add("/r/{run}/plan", s.planPage)
	add("/r/{run}/interview", s.interviewPage)
	add("/r/{run}/log", s.eventLogPage)
	add("/r/{run}/replay", s.replayPage)
	add("/r/{run}/s/{session}", s.sessionPage)
	add("/r/{run}/t/{task}", s.taskPage)
	add("/r/{run}/t/{task}/diff", s.showReview)
	return append(all,
		access.ServerRoute{Method: http.MethodPost, Pattern: "/act", Role: access.Answer, Changes: true, Handler: http.HandlerFunc(s.handleActionForm)},
		formRoute("/settings", access.Admin, 0, s.changeSetting),
		formRoute("/r/{run}/plan", access.Steer, 2*maxPlan, s.submitPlanEdit),
		formRoute("/r/{run}/checks", access.Steer, 0, s.rerunGate),
		formRoute("/r/{run}/t/{task}/diff", access.Answer, 0, s.submitReviewForm),
		access.ServerRoute{Method: http.MethodGet, Pattern: "/live", Role: access.Read, Stream: true, Handler: http.HandlerFunc(s.streamChanges)},
		access.ServerRoute{Method: http.MethodGet, Pattern: "/static/{name...}", Role: access.Read, File: true, Handler: http.HandlerFunc(s.serveAsset)},
	)
}

// formRoute returns the route of a form.
func formRoute(pattern string, role access.Role, body int64, do http.HandlerFunc) access.ServerRoute {
	return access.ServerRoute{Method: http.MethodPost, Pattern: pattern, Role: role, Changes: true, Body: body, Handler: do}
}

// assetHashes returns the first digits of the hash of each embedded file.
func assetHashes() map[string]string {
	all := map[string]string{}
	_ = fs.WalkDir(static, "static", func(name string, d fs.DirEntry, err error) error { // it is in memory
		if err != nil || d.IsDir() {
			return err
		}
		data, err := static.ReadFile(name)
		sum := sha256.Sum256(data)
		all[strings.TrimPrefix(name, "static/")] = hex.EncodeToString(sum[:6])
		return err
	})
	return all
}

// serveAsset serves an embedded file. Its address contains its hash, so it never changes.
func (s *PageHandlers) serveAsset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	data, err := static.ReadFile("static/" + name)
	kind, known := map[string]string{
		".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
		".svg": "image/svg+xml", ".LICENSE": "text/plain; charset=utf-8",
	}[path.Ext(name)]
	if err != nil || !known {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Vary", "Accept-Encoding")
	if r.URL.Query().Get("v") == s.sums[name] {
		w.Header().Set("Cache-Control", "private, max-age=31536000, immutable")
	}
	if takes := r.Header.Get("Accept-Encoding"); strings.Contains(takes, "gzip") && !strings.Contains(takes, "gzip;q=0") {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(data) // a client that is gone reads nothing
		_ = z.Close()
		return
	}
	_, _ = w.Write(data) // a client that is gone reads nothing
}

// screenHandler serves a screen, or a page with the reason why there is none.
func (s *PageHandlers) screenHandler(draw screenDrawFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := http.StatusOK
		c, err := draw(r)
		if err != nil {
			code, c = s.problemPage(r, err)
		}
		var b strings.Builder
		if err := c.Render(r.Context(), &b); err != nil {
			access.RefuseError(w, r, err)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(code)
		_, _ = w.Write([]byte(b.String())) // a client that is gone reads nothing
	})
}

// ServeNotFound serves the page for an unknown address.
func (s *PageHandlers) ServeNotFound(w http.ResponseWriter, r *http.Request) {
	s.screenHandler(func(r *http.Request) (templ.Component, error) { return nil, notFoundError("page", r.URL.Path) }).ServeHTTP(w, r)
}

// problemPage returns the page for an error.
func (s *PageHandlers) problemPage(r *http.Request, err error) (int, templ.Component) {
	f := PageFrame{
		Screen: "problem", Title: "Not shown", Place: s.Place, URL: r.URL.RequestURI(), Now: s.Now(), CSRF: access.CSRFToken(r.Context()),
		Person: access.PersonFrom(r.Context()), sums: s.sums,
	}
	hint := ""
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		hint = e.Hint
		if e.Code == nexus.CodeNotFound {
			return http.StatusNotFound, problemScreen(f, "There is no such page", err.Error(), hint)
		}
	}
	return http.StatusInternalServerError, problemScreen(f, "This page cannot be shown", err.Error(), hint)
}

// notFoundError returns the error for an unknown name.
func notFoundError(what, name string) error {
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: "there is no " + what + " " + strconv.Quote(view.EscapeForTerminal(name)),
		Hint: "It may have been removed, or it has another name. See /runs for all runs.",
	}
}

// PageFrame is the frame around every screen.
type PageFrame struct {
	Screen     string // name of the screen in the navigation
	Title      string
	Place      string
	URL        string // of the screen, with its query
	Live       bool   // it changes while it is shown
	Now        time.Time
	Run        view.RunView // run of the screen; the zero Run: none
	RunActions []ItemAction
	Seq        int64 // number of the last event in it
	Waiting    int   // items in all inboxes
	Said       ActionResult
	CSRF       string
	Person     access.TokenOwner

	sums map[string]string
}

// newFrame returns the frame of a screen, with the run in the address, if any. See gets the run
// while it cannot change.
func (s *PageHandlers) newFrame(r *http.Request, name, title string, see func(p *projection.RunProjection, f *PageFrame) error) (PageFrame, error) {
	f := PageFrame{
		Screen: name, Title: title, Place: s.Place, URL: r.URL.RequestURI(), Live: true, Now: s.Now(), sums: s.sums,
		Said: s.said.resultByID(r.URL.Query().Get("said"), s.Now()), CSRF: access.CSRFToken(r.Context()), Person: access.PersonFrom(r.Context()),
	}
	items, _ := s.Hub.Inbox(f.Now) // the screen of the data reports read errors
	f.Waiting = projection.CountWaiting(items)
	run := nexus.RunID(r.PathValue("run"))
	if run == "" {
		return f, nil
	}
	err := s.Hub.WithProjection(run, func(p *projection.RunProjection) error {
		f.Run, f.Seq, f.RunActions = p.Run(f.Now), p.LastSeq(), p.RunActions()
		if see == nil {
			return nil
		}
		return see(p, &f)
	})
	return f, err
}

func (f PageFrame) assetURL(name string) string { return "/static/" + name + "?v=" + f.sums[name] }

// titleWithCount returns the title of the page, with the number of waiting items first, so that a
// browser tab shows it.
func (f PageFrame) titleWithCount() string {
	title := view.EscapeForTerminal(f.Title) + " - nexus"
	if f.Run.ID != "" {
		title = view.EscapeForTerminal(f.Title) + " - " + view.EscapeForTerminal(string(f.Run.ID)) + " - nexus"
	}
	if f.Waiting > 0 {
		return "(" + strconv.Itoa(f.Waiting) + ") " + title
	}
	return title
}

// liveURL returns the address of the page's change notifications.
func (f PageFrame) liveURL() string {
	return "/live?" + url.Values{"run": {string(f.Run.ID)}, "after": {strconv.FormatInt(f.Seq, 10)}}.Encode()
}

// frameOfRun returns the frame for another run.
func (f PageFrame) frameOfRun(run nexus.RunID) PageFrame {
	f.Run.ID = run
	return f
}

// refusalReason returns why a person cannot do an action; empty if they can.
func (f PageFrame) refusalReason(a ItemAction) string {
	if a.Refused == "" && !f.Person.HasRole(access.Role(a.Role)) {
		return "This needs the role " + a.Role + "; yours is " + string(f.Person.Role) + "."
	}
	return a.Refused
}

// availableRunActions returns the actions of the run that are possible now.
func (f PageFrame) availableRunActions() []ItemAction {
	var some []ItemAction
	for _, a := range f.RunActions {
		if a.Refused == "" {
			some = append(some, a)
		}
	}
	return some
}

// runCommand runs a command line on behalf of the caller.
func (s *PageHandlers) runCommand(ctx context.Context, args ...string) access.CommandLineResult {
	return s.Act(context.WithoutCancel(ctx), access.PersonFrom(ctx), access.CommandInput{Args: args})
}
